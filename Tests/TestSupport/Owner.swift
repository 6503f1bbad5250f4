/// An actor that isolates the types under test, as a `SearchWorker` does.
public actor Owner {
    public nonisolated let time: VirtualTime
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe time.asUnownedSerialExecutor() }

    public init(_ time: VirtualTime) { self.time = time }

    /// Enters the actor from the test's thread.
    public nonisolated func enter<T: Sendable>(_ body: (isolated Owner) throws -> T) rethrows -> T {
        try assumeIsolated(body)
    }
}
