public import Resilience

/// One provider's API, as the domain sees it. Called concurrently.
public protocol PlaceService: Sendable {
    var id: ProviderID { get }

    /// Why this provider can never serve the request, whatever its state; `nil` when it can. Asks nobody.
    func refusal(of request: SearchRequest) -> SearchError?

    /// One attempt: asks the provider once (a photo may need two calls) and reads its answer. No retries of its own.
    /// - Throws: the failure in the contract's terms; `timeout` once `deadline` has passed. Cancelling the task aborts
    ///   the transfer.
    func answer(_ request: SearchRequest, before deadline: Deadline) async throws(SearchError) -> ProviderAnswer
}
