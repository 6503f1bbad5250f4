import Synchronization

/// Something that is read once for all who ask for it at about the same time, however many they are. Safe to use from any
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
        /// Rises when what is known must not be handed out any more.
        var round = 0
    }

    private let lifetime: Duration
    private let read: @Sendable () async -> Result<Value, Failure>
    private let state = Mutex(State())

    /// - Parameters:
    ///   - lifetime: how long a value is handed out after it was read. A failure is handed out to those who wait for it only.
    ///   - read: reads the value.
    init(keptFor lifetime: Duration, _ read: @escaping @Sendable () async -> Result<Value, Failure>) {
        self.lifetime = lifetime
        self.read = read
    }

    /// Returns what was read a moment ago, or what is being read.
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

    /// Has the next caller get what stands there from now on.
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
