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

/// One provider's API over HTTP: its address, its key, and its calls. A class, so that closures keep it without a copy.
final class ProviderAPI: Sendable {
    let id: ProviderID
    let configuration: ProviderConfiguration
    private let http: any HTTPSending

    init(_ id: ProviderID, http: any HTTPSending, configuration: ProviderConfiguration) {
        (self.id, self.http, self.configuration) = (id, http, configuration)
    }

    /// Begins one call. The key is removed from failures, because events contain the provider's texts.
    ///
    /// A call without a key fails at once, because providers report such calls as a fault of the request.
    /// - Parameter end: called once with the reply, or with the failure in the contract's terms.
    /// - Parameter read: reads the reply from the answer.
    /// - Returns: the call; `nil` if it has ended.
    func begin(
        _ request: HTTPRequest, before deadline: Deadline,
        then end: @escaping ProviderCompletion,
        reading read: @escaping @Sendable (HTTPResponse) throws(SearchError) -> ProviderReply
    ) -> (any Cancellable)? {
        guard !configuration.apiKey.isEmpty else {
            end(.failure(.noKey(of: id)))
            return nil
        }
        return http.begin(request, before: deadline.instant) { [self] result in
            // Not `Result.init(catching:)`, which looks up its type at run time.
            do throws(SearchError) {
                end(.success(try reply(in: result, reading: read)))
            } catch {
                end(.failure(error))
            }
        }
    }

    private func reply(
        in result: Result<HTTPResponse, HTTPError>, reading read: (HTTPResponse) throws(SearchError) -> ProviderReply
    ) throws(SearchError) -> ProviderReply {
        switch result {
        case .failure(let error): throw SearchError(error, from: id)
        case .success(let response):
            do throws(SearchError) {
                let reply = try read(response)
                if case .answer(let answer) = reply { try checkSilence(of: answer) }
                return reply
            } catch {
                throw configuration.key.removed(from: error)
            }
        }
    }

    /// Makes one call, and waits for its end: `begin` for tasks.
    func ask(
        _ request: HTTPRequest, before deadline: Deadline,
        reading read: @escaping @Sendable (HTTPResponse) throws(SearchError) -> ProviderReply
    ) async throws(SearchError) {
        _ = try await withCheckedContinuation { task in
            _ = begin(request, before: deadline, then: { task.resume(returning: $0) }, reading: read)
        }.get()
    }

    /// Refuses an answer that repeats our key, for example in a link or a front end's page, because events contain its texts.
    private func checkSilence(of answer: borrowing ProviderAnswer) throws(SearchError) {
        let keys = configuration.key.telltales
        if keys.isEmpty { return }

        var isSilent = !KeySearch.repeats(keys, in: answer.places.allTexts)
        for text in answer.attributions { isSilent = isSilent && !KeySearch.repeats(keys, in: text.utf8.span) }
        if let text = answer.photoURL { isSilent = isSilent && !KeySearch.repeats(keys, in: text.utf8.span) }
        if let text = answer.nextPageToken { isSilent = isSilent && !KeySearch.repeats(keys, in: text.utf8.span) }

        guard isSilent else { throw .badResponse("contains the API key", from: id) }
    }
}

extension ProviderAPI: CustomStringConvertible {
    var description: String { "\(id.rawValue) at \(configuration)" }
}
