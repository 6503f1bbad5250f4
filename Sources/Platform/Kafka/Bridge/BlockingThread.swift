internal import Basics
internal import Dispatch

/// Runs librdkafka's few blocking calls one after another, away from the loop. See docs/internals/concurrency.md,
/// section 6.
final class BlockingThread: Sendable {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Runs `body` after the earlier calls have returned.
    func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(Failure) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Suspends the caller for `time`. Cancellation of its task has no effect.
    func pause(_ time: Duration) async {
        let seconds = time.inSeconds
        await withCheckedContinuation { continuation in
            queue.asyncAfter(deadline: .now() + seconds) { continuation.resume() }
        }
    }

    /// Runs `body` after the earlier calls have returned. The caller does not wait for its end, but later calls do.
    func start(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}

/// A C pointer that is passed to another thread.
struct Shared: @unchecked Sendable {
    // Sendable by hand: librdkafka's objects may be used from any thread (its INTRODUCTION.md, "Threads and callbacks"), and
    // the sender keeps the object alive until the call has returned.
    let pointer: OpaquePointer
}
