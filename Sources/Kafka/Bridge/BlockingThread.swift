internal import Dispatch

/// Runs the few calls of librdkafka that hold their thread, one after another, away from the loop.
final class BlockingThread: Sendable {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}

/// A C pointer on its way to another thread. librdkafka's clients may be used from any (its INTRODUCTION.md, "Threads
/// and callbacks"), and whoever sends one keeps it alive until the call returns.
struct Shared: @unchecked Sendable {
    let pointer: OpaquePointer
}
