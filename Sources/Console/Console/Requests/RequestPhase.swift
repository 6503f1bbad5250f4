internal import EventContract
internal import LocationSearch

/// A part of a request's way from its topic to its outcome's.
package struct RequestPhase: Sendable, Hashable {
    /// What the request did meanwhile. Those of `RequestStep.Kind` have its names, and so have those of newer workers.
    package struct Kind: RawRepresentable, Sendable, Hashable {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        /// It waited in its topic until a worker took it.
        package static let topic = Kind(rawValue: "topic")
        /// It was in the worker, and its outcome does not say what for.
        package static let worker = Kind(rawValue: "worker")
        /// Its outcome was made, and waited to be written: for its turn, for a transaction, for the brokers.
        package static let publish = Kind(rawValue: "publish")
    }

    /// What came of a call that was not answered.
    package enum Sequel: String, Sendable, Hashable {
        /// The same provider was asked again.
        case retried
        /// Another provider was asked.
        case passedOn = "passed-on"
        /// Nobody else was asked.
        case ended
    }

    package let kind: Kind
    package let provider: String?
    /// The time from the beginning of the first phase to that of this one.
    package let start: Duration
    package let duration: Duration
    /// How a step ended, as the header `request-steps` says it: `ok`, a code, `given-up`, `cancelled`.
    package let code: String?
    package let httpStatus: Int?
    /// What came next; `nil` for what did not fail.
    package var sequel: Sequel?

    init(
        _ kind: Kind, provider: String? = nil, start: Duration, duration: Duration, code: String? = nil,
        httpStatus: Int? = nil
    ) {
        self.kind = kind
        self.provider = provider
        self.start = start
        self.duration = duration
        self.code = code
        self.httpStatus = httpStatus
    }

    /// The time from the beginning of the first phase to the end of this one.
    package var end: Duration { start + duration }
}

/// The way of one request, cut into phases by its outcome.
package struct RequestPhases: Sendable {
    /// Time within a worker that no step accounts for is shown from here on.
    private static let shortestGap = Duration.milliseconds(10)

    /// In the order in which they ended.
    package private(set) var all: [RequestPhase] = []
    /// False where the outcome names no steps, so that the time in the worker is one phase.
    package let areStepsKnown: Bool
    /// True when steps before the last one were left out by the worker.
    package let areCut: Bool

    /// - Returns: `nil` for a request without an outcome, and for one that does not say when it was received.
    package init?(_ life: RequestLife) {
        guard let outcome = life.outcome, let received = outcome.event.receivedAt else { return nil }
        let steps = outcome.event.steps
        areStepsKnown = steps != nil
        areCut = steps?.areCut ?? false

        let wait = steps?.topicWait ?? life.request?.time.map { Self.duration(from: $0, to: received) }
        if let wait { all.append(RequestPhase(.topic, start: .zero, duration: wait)) }
        let taken = wait ?? .zero
        let work = outcome.event.completedAt.map { Self.duration(from: received, to: $0) }
        appendSteps(steps?.steps ?? [], from: taken, to: work.map { taken + $0 })

        if let completed = outcome.event.completedAt, let written = outcome.time, let work {
            let pause = Self.duration(from: completed, to: written)
            all.append(RequestPhase(.publish, start: taken + work, duration: pause))
        }
        for index in all.indices { all[index].sequel = sequel(of: index) }
    }

    /// The time from the first phase's beginning to the last one's end.
    package var total: Duration { all.map(\.end).max() ?? .zero }

    /// The time that all phases of each kind took, the longest first. Phases of less than a millisecond are left out.
    package var sums: [(kind: RequestPhase.Kind, duration: Duration)] {
        var sums: [(kind: RequestPhase.Kind, duration: Duration)] = []
        for phase in all where phase.duration > .zero {
            if let index = sums.firstIndex(where: { $0.kind == phase.kind }) {
                sums[index].duration += phase.duration
            } else {
                sums.append((phase.kind, phase.duration))
            }
        }
        return sums.sorted { $0.duration > $1.duration }
    }

    private mutating func appendSteps(_ steps: [OutcomeEvent.Step], from taken: Duration, to completed: Duration?) {
        var reached = taken
        for step in steps {
            let start = taken + step.start
            appendGap(from: reached, to: start)
            all.append(
                RequestPhase(
                    .init(rawValue: step.kind), provider: step.provider, start: start, duration: step.duration,
                    code: step.code, httpStatus: step.httpStatus))
            reached = max(reached, start + step.duration)
        }
        guard let completed else { return }
        if areStepsKnown {
            appendGap(from: reached, to: completed)
        } else {
            all.append(RequestPhase(.worker, start: taken, duration: completed - taken))
        }
    }

    private mutating func appendGap(from start: Duration, to end: Duration) {
        guard end - start >= Self.shortestGap else { return }
        all.append(RequestPhase(.worker, start: start, duration: end - start))
    }

    private func sequel(of index: Int) -> RequestPhase.Sequel? {
        let phase = all[index]
        let kinds = [RequestStep.Kind.call, .refused, .shared].map(\.rawValue)
        guard kinds.contains(phase.kind.rawValue), let code = phase.code, code != "ok" else { return nil }

        let next = all[(index + 1)...].first { kinds.contains($0.kind.rawValue) }
        guard let next else { return .ended }
        return next.provider == phase.provider ? .retried : .passedOn
    }

    /// Clocks of two machines may differ, so that an end seems to lie before its beginning.
    private static func duration(from start: EventTime, to end: EventTime) -> Duration {
        max(.zero, end.duration(since: start))
    }
}
