public import Basics
internal import Synchronization

/// A stand-in's call, which is a task.
public final class CallInTask: Cancellable {
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let isOver = Atomic(false)

    /// Runs `body` at once until it suspends, and afterwards on the executor.
    /// - Returns: `nil` if `body` has ended.
    public static func begin(on executor: any TaskExecutor, _ body: @escaping @Sendable () async -> Void) -> CallInTask?
    {
        let call = CallInTask()
        let task = Task.immediate(executorPreference: executor) {
            await body()
            call.isOver.store(true, ordering: .releasing)
        }
        call.task.withLock { $0 = task }
        return call.isOver.load(ordering: .acquiring) ? nil : call
    }

    public func cancel() { task.withLock { $0 }?.cancel() }
}
