import HTTPTransport
import LocationSearch
import Resilience

extension HTTPSending {
    /// Makes one call to a provider.
    /// - Parameter read: makes the page of the answer, see `send(_:before:reading:)`.
    /// - Throws: the failure in the contract's terms, be it the transport's or that of `read`.
    @inline(__always)
    func ask<Page: Sendable>(
        _ request: HTTPRequest, of provider: ProviderID, before deadline: Deadline,
        reading read: @escaping @Sendable (HTTPResponse) throws(SearchError) -> Page
    ) async throws(SearchError) -> Page {
        let page: Result<Page, SearchError>
        do throws(HTTPError) {
            page = try await send(request, before: deadline.instant) { response in
                // Not `Result.init(catching:)`, which looks its type up at run time.
                do throws(SearchError) { return .success(try read(response)) } catch { return .failure(error) }
            }
        } catch {
            throw SearchError(error, from: provider)
        }

        return try page.get()
    }
}
