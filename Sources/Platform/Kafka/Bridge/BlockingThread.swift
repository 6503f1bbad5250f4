internal import Dispatch

/// Runs the few calls of librdkafka that hold their thread, one after another, away from the loop. See docs/internals/concurrency.md,
/// section 6.
final class BlockingThread: Sendable {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Runs `body` once the calls before it have returned.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }

    /// Runs `body` once the calls before it have returned. Nobody waits for its end, but calls that come later do.
    func start(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}

/// Frees clients that nobody awaits.
enum Disposal {
    /// Runs `body`, which may hold its thread for seconds, on a thread that Dispatch adds for it where all others are held.
    /// Swift's own pool has one thread for each core, and tasks would wait for them.
    static func run(_ body: @escaping @Sendable () -> Void) { DispatchQueue.global(qos: .utility).async(execute: body) }
}

/// A C pointer on its way to another thread.
struct Shared: @unchecked Sendable {
    // Sendable by hand: librdkafka's objects may be used from any thread (its INTRODUCTION.md, "Threads and callbacks"), and
    // the sender keeps the object alive until the call has returned.
    let pointer: OpaquePointer
}
