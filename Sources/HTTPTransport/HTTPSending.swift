/// What makes HTTP calls; a fake of it serves the provider suites. Called concurrently.
public protocol HTTPSending: Sendable {
    /// - Parameter deadline: connecting, sending, waiting and reading end by then.
    /// - Parameter read: makes of the answer what is wanted of it, as soon as it is there and before anything else runs:
    ///   what many answers at once would take in memory is one body, and that is still in the processor's caches.
    /// - Throws: `timeout` past the deadline, `cancelled` when the task is cancelled: the transfer is then really aborted.
    func send<Value: Sendable>(
        _ request: HTTPRequest, before deadline: ContinuousClock.Instant,
        reading read: @escaping @Sendable (HTTPResponse) -> Value
    ) async throws(HTTPError) -> Value
}

extension HTTPSending {
    /// - Returns: the answer as it is.
    public func send(
        _ request: HTTPRequest, before deadline: ContinuousClock.Instant
    ) async throws(HTTPError) -> HTTPResponse {
        try await send(request, before: deadline) { $0 }
    }
}
