public import Basics
internal import Synchronization

/// Called once with the response to a call, or with its failure.
public typealias HTTPCompletion = @Sendable (Result<HTTPResponse, HTTPError>) -> Void

/// Makes HTTP calls, possibly concurrently. `HTTPTransport` implements it; the provider tests use a fake.
public protocol HTTPSending: Sendable {
    /// Begins a call. May be called from any thread.
    /// - Parameter deadline: The time by which connecting, sending, waiting and reading must have ended.
    /// - Parameter end: Called once with the response or the failure, outside any task, on the thread on which the sender
    ///   works. A caller on that thread may see it called before this function returns. The failure is `timeout` after
    ///   the deadline, and `cancelled` if the call was cancelled, which aborts the transfer.
    /// - Returns: The call, for cancelling it; `nil` if it has ended.
    func begin(
        _ request: HTTPRequest, before deadline: Instant,
        then end: @escaping HTTPCompletion
    ) -> (any Cancellable)?
}

extension HTTPSending {
    /// Makes a call, and waits for its response.
    /// - Throws: `timeout` after the deadline; `cancelled` if the task is cancelled, which aborts the transfer.
    public func send(_ request: HTTPRequest, before deadline: Instant) async throws(HTTPError) -> HTTPResponse {
        let call = CallOfTask()
        let result: Result<HTTPResponse, HTTPError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else {
                    return continuation.resume(returning: .failure(HTTPError(.cancelled, "the call was cancelled")))
                }
                call.take(begin(request, before: deadline) { continuation.resume(returning: $0) })
            }
        } onCancel: {
            call.cancel()
        }
        return try result.get()
    }
}

/// The call of a task, which may be cancelled while the call begins.
private final class CallOfTask: Sendable {
    private let state = Mutex<(call: (any Cancellable)?, isCancelled: Bool)>((nil, false))

    func take(_ call: (any Cancellable)?) {
        let isCancelled = state.withLock { state in
            state.call = call
            return state.isCancelled
        }
        if isCancelled { call?.cancel() }
    }

    func cancel() {
        let call = state.withLock { state in
            state.isCancelled = true
            return state.call
        }
        call?.cancel()
    }
}
