internal import Basics
import HTTPTransport
import LocationSearch

extension HTTPSending {
    /// Makes one call to a provider.
    /// - Parameter key: the key of the call. It is removed from failures, because events contain the provider's texts.
    /// - Parameter read: reads the page from the answer, see `send(_:before:reading:)`.
    /// - Throws: the failure in the contract's terms, from the transport or from `read`.
    @inline(__always)
    func ask<Page: Sendable>(
        _ request: HTTPRequest, of provider: ProviderID, with key: ProviderKey, before deadline: Deadline,
        reading read: @escaping @Sendable (HTTPResponse) throws(SearchError) -> Page
    ) async throws(SearchError) -> Page {
        let page: Result<Page, SearchError>
        do throws(HTTPError) {
            page = try await send(request, before: deadline.instant) { response in
                // Not `Result.init(catching:)`, which looks up its type at run time.
                do throws(SearchError) {
                    return .success(try read(response))
                } catch {
                    return .failure(key.removed(from: error))
                }
            }
        } catch {
            throw SearchError(error, from: provider)
        }

        return try page.get()
    }
}
