/// What makes HTTP calls; a fake of it serves the provider suites. Called concurrently.
public protocol HTTPSending: Sendable {
    /// - Parameter deadline: connecting, sending, waiting and reading end by then.
    /// - Throws: `timeout` past the deadline, `cancelled` when the task is cancelled: the transfer is then really aborted.
    func send(_ request: HTTPRequest, before deadline: ContinuousClock.Instant) async throws(HTTPError) -> HTTPResponse
}
