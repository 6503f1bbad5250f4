import Basics
import HTTPTransport
import LocationSearch

/// The address of a provider's API and its key. Both come from settings only.
public struct ProviderConfiguration: Sendable {
    /// The start of every URL, such as `https://host`, without a trailing slash. The paths of the API are appended.
    public let baseURL: String
    let key: ProviderKey

    /// The API key, which is used in requests only.
    var apiKey: String { key.text }

    /// Makes the configuration of a provider at that address. With an empty key, every call fails as `unauthorized` before it is made.
    public init(baseURL: String, key: ProviderKey) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.key = key
    }

    /// Makes the configuration of a provider whose key never changes.
    public init(baseURL: String, apiKey: String) { self.init(baseURL: baseURL, key: ProviderKey(apiKey)) }
}

/// No textual form of a configuration contains the key.
extension ProviderConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String { baseURL }
    public var customMirror: Mirror { Mirror(self, children: ["baseURL": baseURL]) }
}

/// One provider's API over HTTP: its address, its key, and its calls.
struct ProviderAPI: Sendable {
    let id: ProviderID
    let configuration: ProviderConfiguration
    private let http: any HTTPSending

    init(_ id: ProviderID, http: any HTTPSending, configuration: ProviderConfiguration) {
        (self.id, self.http, self.configuration) = (id, http, configuration)
    }

    /// Makes one call. The key is removed from failures, because events contain the provider's texts.
    /// - Parameter read: reads the page from the answer, see `HTTPSending.send(_:before:reading:)`.
    /// - Throws: the failure in the contract's terms, from the transport or from `read`.
    @inline(__always)
    func ask<Page: Sendable>(
        _ request: HTTPRequest, before deadline: Deadline,
        reading read: @escaping @Sendable (HTTPResponse) throws(SearchError) -> Page
    ) async throws(SearchError) -> Page {
        let key = configuration.key
        let page: Result<Page, SearchError>
        do throws(HTTPError) {
            page = try await http.send(request, before: deadline.instant) { response in
                // Not `Result.init(catching:)`, which looks up its type at run time.
                do throws(SearchError) {
                    return .success(try read(response))
                } catch {
                    return .failure(key.removed(from: error))
                }
            }
        } catch {
            throw SearchError(error, from: id)
        }

        return try page.get()
    }

    /// Refuses a call without a key, because providers report such calls as a fault of the request.
    func checkKey() throws(SearchError) {
        guard !configuration.apiKey.isEmpty else { throw .noKey(of: id) }
    }

    /// Refuses an answer that repeats our key, for example in a link or a front end's page, because events contain its texts.
    func checkSilence(of answer: borrowing ProviderAnswer) throws(SearchError) {
        let keys = configuration.key.telltales
        if keys.isEmpty { return }

        var isSilent = !KeySearch.repeats(keys, in: answer.places.allTexts)
        for text in answer.attributions { isSilent = isSilent && !KeySearch.repeats(keys, in: text.utf8.span) }
        if let text = answer.photoURL { isSilent = isSilent && !KeySearch.repeats(keys, in: text.utf8.span) }
        if let text = answer.nextPageToken { isSilent = isSilent && !KeySearch.repeats(keys, in: text.utf8.span) }

        guard isSilent else { throw .badResponse("contains the API key", from: id) }
    }
}
