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

    /// Runs `body` after the earlier calls have returned. The caller does not wait for its end, but later calls do.
    func start(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}

/// Frees clients without a waiting caller.
enum Disposal {
    /// Runs `body`, which may block its thread for seconds. Dispatch adds a thread for it if all others are blocked.
    /// Swift's own pool has only one thread per core, so tasks would be delayed.
    static func run(_ body: @escaping @Sendable () -> Void) { DispatchQueue.global(qos: .utility).async(execute: body) }
}

/// A C pointer that is passed to another thread.
struct Shared: @unchecked Sendable {
    // Sendable by hand: librdkafka's objects may be used from any thread (its INTRODUCTION.md, "Threads and callbacks"), and
    // the sender keeps the object alive until the call has returned.
    let pointer: OpaquePointer
}
