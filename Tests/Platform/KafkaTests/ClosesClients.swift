import EventLoop
import Synchronization
import Testing

/// Closes the clients of a test after it, also if it has failed, and stops their loops.
struct ClosesClients: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let cleanup = Cleanup()
        do {
            try await Cleanup.$current.withValue(cleanup) { try await function() }
        } catch {
            await cleanup.run()
            throw error
        }
        await cleanup.run()
    }
}

extension Trait where Self == ClosesClients {
    static var closesClients: Self { Self() }
}

/// What to do after the current test.
final class Cleanup: Sendable {
    @TaskLocal fileprivate static var current: Cleanup?
    private let actions = Mutex<[@Sendable () async -> Void]>([])

    /// Adds an action that runs before all that were added so far.
    static func add(_ action: @escaping @Sendable () async -> Void) throws {
        let current = try #require(current, "the suite has the trait closesClients")
        current.actions.withLock { $0.append(action) }
    }

    fileprivate func run() async {
        for action in actions.withLock({ $0 }).reversed() { await action() }
    }
}

extension EventLoop {
    /// Returns a loop that stops after the test.
    static func ofTest() throws -> EventLoop {
        let loop = try EventLoop()
        try Cleanup.add { loop.stop() }
        return loop
    }
}
