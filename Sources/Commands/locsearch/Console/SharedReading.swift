/// Shares one read operation between all callers that need its value at about the same time.
actor SharedReading<Value: Sendable, Failure: Error> {
    private let lifetime: Duration
    private let read: @Sendable () async -> Result<Value, Failure>
    /// The read in progress, or the one whose value is kept.
    private var reading: Task<Result<Value, Failure>, Never>?
    /// Incremented when the current reading becomes outdated.
    private var round = 0

    /// - Parameters:
    ///   - lifetime: how long a value is returned after it was read. A failure is returned only to the callers that
    ///     were waiting for it.
    ///   - read: reads the value.
    init(keptFor lifetime: Duration, _ read: @escaping @Sendable () async -> Result<Value, Failure>) {
        self.lifetime = lifetime
        self.read = read
    }

    /// Returns the value read most recently, or waits for the read in progress.
    func value() async throws(Failure) -> Value {
        if let reading { return try await reading.value.get() }

        let (read, round) = (read, round)
        let reading = Task.detached { await read() }
        self.reading = reading
        let result = await reading.value
        if case .failure = result {
            forget(round)
        } else {
            Task {
                try? await Task.sleep(for: lifetime)
                forget(round)
            }
        }
        return try result.get()
    }

    /// Makes the next caller read the value again.
    func forget() { forget(round) }

    private func forget(_ outdated: Int) {
        guard outdated == round else { return }
        round += 1
        reading = nil
    }
}
