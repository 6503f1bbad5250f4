public import Synchronization

/// What makes HTTP calls; a fake of it serves the provider suites. Called concurrently.
public protocol HTTPSending: Sendable {
    /// - Parameter deadline: connecting, sending, waiting and reading end by then.
    /// - Parameter receive: given the answer as soon as it is there, once and before anything else runs; not called when
    ///   the call fails. Whoever takes what he wants of it and keeps no copy gives its memory back at once, instead of when
    ///   his task's turn comes behind many others.
    /// - Throws: `timeout` past the deadline, `cancelled` when the task is cancelled: the transfer is then really aborted.
    func send(
        _ request: HTTPRequest, before deadline: ContinuousClock.Instant,
        receiving receive: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(HTTPError)
}

extension HTTPSending {
    /// - Returns: what `read` made of the answer, within `receiving`.
    @inlinable
    @inline(__always)
    public func send<Value: Sendable>(
        _ request: HTTPRequest, before deadline: ContinuousClock.Instant,
        reading read: @escaping @Sendable (HTTPResponse) -> Value
    ) async throws(HTTPError) -> Value {
        let made = Made<Value>()
        try await send(request, before: deadline, receiving: { made.set(read($0)) })
        return made.take()
    }

    /// - Returns: the answer as it is.
    public func send(
        _ request: HTTPRequest, before deadline: ContinuousClock.Instant
    ) async throws(HTTPError) -> HTTPResponse {
        try await send(request, before: deadline, reading: { $0 })
    }
}

/// What was made of an answer, on its way to whoever asked.
@usableFromInline final class Made<Value: Sendable>: Sendable {
    @usableFromInline let state = Mutex<Value?>(nil)

    @inlinable init() {}

    @inlinable func set(_ value: Value) { state.withLock { $0 = value } }

    /// Once: it is given away.
    @inlinable func take() -> Value {
        guard let value = state.withLock({ $0.take() }) else {
            preconditionFailure("a call that ended without an answer")
        }
        return value
    }
}
