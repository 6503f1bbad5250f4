import Synchronization

/// Shares one read operation between all callers that need its value at about the same time. Safe to use from any
/// thread.
final class SharedReading<Value: Sendable, Failure: Error>: Sendable {
    private typealias Reading = Task<Result<Value, Failure>, Never>

    private enum Source {
        case kept(Value)
        case reading(Reading)
    }

    private struct State {
        var reading: Reading?
        var kept: Value?
        /// Incremented when the current value and the read in progress become outdated.
        var round = 0
    }

    private let lifetime: Duration
    private let read: @Sendable () async -> Result<Value, Failure>
    private let state = Mutex(State())

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
        let source = state.withLock { state in
            if let kept = state.kept { return Source.kept(kept) }
            if let reading = state.reading { return Source.reading(reading) }

            let round = state.round
            let reading = Reading { await self.run(round) }
            state.reading = reading
            return Source.reading(reading)
        }

        return switch source {
        case .kept(let value): value
        case .reading(let reading): try await reading.value.get()
        }
    }

    /// Makes the next caller read the value again.
    func forget() {
        state.withLock { state in
            state.round += 1
            (state.reading, state.kept) = (nil, nil)
        }
    }

    private func run(_ round: Int) async -> Result<Value, Failure> {
        let result = await read()
        let isKept = state.withLock { state in
            guard state.round == round else { return false }
            state.reading = nil
            state.kept = try? result.get()
            return state.kept != nil
        }
        if isKept { Task { await self.forgetLater(round) } }
        return result
    }

    private func forgetLater(_ round: Int) async {
        try? await Task.sleep(for: lifetime)
        state.withLock { state in
            guard state.round == round, state.reading == nil else { return }
            state.kept = nil
        }
    }
}
