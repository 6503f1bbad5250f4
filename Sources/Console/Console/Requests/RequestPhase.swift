internal import EventContract

/// One phase of a request, between its record and its outcome's record.
package struct RequestPhase: Sendable, Hashable {
    /// The kind of a phase. Kinds from `RequestStep.Kind` have the same names; newer workers may add others.
    package struct Kind: RawRepresentable, Sendable, Hashable {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        /// The request waited in its topic until a worker took it.
        package static let topic = Kind(rawValue: "topic")
        /// The request was in the worker, and its outcome gives no details.
        package static let worker = Kind(rawValue: "worker")
        /// The outcome waited to be written: for its position in the order, for a transaction, or for the brokers.
        package static let publish = Kind(rawValue: "publish")
    }

    package let kind: Kind
    package let provider: String?
    /// The time from the start of the first phase to the start of this one.
    package let start: Duration
    package let duration: Duration
    /// The end of a step, as written in the header `request-steps`: `ok`, a code, `given-up`, `cancelled`.
    package let code: String?
    package let httpStatus: Int?

    init(
        _ kind: Kind, provider: String? = nil, start: Duration, duration: Duration, code: String? = nil,
        httpStatus: Int? = nil
    ) {
        (self.kind, self.provider, self.start, self.duration) = (kind, provider, start, duration)
        (self.code, self.httpStatus) = (code, httpStatus)
    }

    /// The time from the start of the first phase to the end of this one.
    package var end: Duration { start + duration }
}

/// The time of one request, divided into phases with the help of its outcome.
package struct RequestPhases: Sendable {
    /// The shortest unexplained time within a worker that is shown.
    private static let shortestGap = Duration.milliseconds(10)

    /// The phases, in the order in which they ended.
    package private(set) var all: [RequestPhase] = []
    /// False if the outcome lists no steps, so that the time in the worker is one phase.
    package let areStepsKnown: Bool
    /// True if the worker left out steps before the last one.
    package let areCut: Bool

    /// - Returns: `nil` for a request without an outcome, and for an outcome without the time of receipt.
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
    }

    /// The time from the start of the first phase to the end of the last one.
    package var total: Duration { all.map(\.end).max() ?? .zero }

    /// The total time of each kind of phase, longest first. Phases of less than a millisecond are left out.
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

    /// Two machines' clocks may differ, so that an end seems to precede its start.
    private static func duration(from start: WallTime, to end: WallTime) -> Duration {
        max(.zero, end.duration(since: start))
    }
}
