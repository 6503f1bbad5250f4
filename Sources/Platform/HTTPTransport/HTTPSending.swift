public import Basics

/// Makes HTTP calls. Called concurrently. `HTTPTransport` is the real one; the provider suites have a fake.
public protocol HTTPSending: Sendable {
    /// Makes a call and hands its answer to `receive`.
    ///
    /// `receive` is called once, as soon as the answer is there and before the caller's task continues, and not at all when
    /// the call fails. A closure that takes what it needs and keeps no copy of the answer frees the body's memory at once;
    /// the caller's task may have to wait for its turn behind many others.
    /// - Parameter deadline: the time by which connecting, sending, waiting and reading have ended.
    /// - Throws: `timeout` past the deadline; `cancelled` when the task is cancelled, which aborts the transfer.
    func send(
        _ request: HTTPRequest, before deadline: Instant,
        receiving receive: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(HTTPError)
}

extension HTTPSending {
    /// Makes a call and returns what `read` makes of its answer. `read` runs where `receive` of the other `send` does.
    @inlinable
    @inline(__always)
    public func send<Value: Sendable>(
        _ request: HTTPRequest, before deadline: Instant,
        reading read: @escaping @Sendable (HTTPResponse) -> Value
    ) async throws(HTTPError) -> Value {
        // Safe because it is written before this task goes on, and read by this task after that. A box with a lock would cost
        // a dozen look-ups of generic types.
        nonisolated(unsafe) var result: Value?
        try await send(request, before: deadline, receiving: { result = read($0) })
        guard let result else { preconditionFailure("a call that ended without an answer") }
        return result
    }

    /// Makes a call and returns its answer as it is.
    public func send(
        _ request: HTTPRequest, before deadline: Instant
    ) async throws(HTTPError) -> HTTPResponse {
        try await send(request, before: deadline, reading: { $0 })
    }
}
