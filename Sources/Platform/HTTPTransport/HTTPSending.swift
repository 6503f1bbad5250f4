public import Basics

/// Makes HTTP calls, possibly concurrently. `HTTPTransport` implements it; the provider tests use a fake.
public protocol HTTPSending: Sendable {
    /// Makes a call and passes its response to `receive`.
    ///
    /// `receive` is called once, when the response is complete and before the caller's task continues; never if the
    /// call fails. The caller's task may be queued behind many others. So a closure that extracts what it needs, and
    /// does not keep the response, frees the body's memory earlier.
    /// - Parameter deadline: The time by which connecting, sending, waiting and reading must have ended.
    /// - Throws: `timeout` after the deadline; `cancelled` if the task is cancelled, which aborts the transfer.
    func send(
        _ request: HTTPRequest, before deadline: Instant,
        receiving receive: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(HTTPError)
}

extension HTTPSending {
    /// Makes a call and returns the value that `read` extracts from its response. `read` is called in the same way as
    /// `receive`.
    @inlinable
    @inline(__always)
    public func send<Value: Sendable>(
        _ request: HTTPRequest, before deadline: Instant,
        reading read: @escaping @Sendable (HTTPResponse) -> Value
    ) async throws(HTTPError) -> Value {
        // Safe because it is written before this task continues, and only then read by this task. A box with a lock
        // would cost a dozen lookups of generic types.
        nonisolated(unsafe) var result: Value?
        try await send(request, before: deadline, receiving: { result = read($0) })
        guard let result else { preconditionFailure("the call ended without an answer") }
        return result
    }

    /// Makes a call and returns its complete response.
    public func send(
        _ request: HTTPRequest, before deadline: Instant
    ) async throws(HTTPError) -> HTTPResponse {
        try await send(request, before: deadline, reading: { $0 })
    }
}
