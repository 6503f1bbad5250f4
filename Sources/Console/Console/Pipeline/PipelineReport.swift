internal import Basics

/// Whether requests are being processed, according to the brokers and to the workers' admin endpoints.
package struct PipelineReport: Sendable, Hashable {
    /// The overall state.
    package enum Verdict: String, Sendable {
        /// No reading yet, or too little data to decide.
        case unknown
        case working
        /// No broker answers in time.
        case brokersAway = "brokers-away"
        /// There is no worker.
        case noWorker = "no-worker"
        /// There are workers, and none of them is ready.
        case workersNotReady = "workers-not-ready"
        /// Workers take requests, and at least half of these end with errors, or all of them will.
        case answersWithErrors = "answers-with-errors"
        /// Workers take requests, but not from all partitions.
        case partitionsUnread = "partitions-unread"
    }

    /// The answers of the workers' admin endpoints.
    package struct Workers: Sendable, Hashable {
        /// True if their addresses are configured. Otherwise only the default address on this machine was tried, where
        /// there may be no worker.
        package var areNamed: Bool
        package var asked: Int
        package var answering: Int
        package var ready: Int
        /// Why the first answering worker is not ready.
        package var problem: String?
        /// Why no ready worker can call a provider; `nil` if one of them can.
        package var errors: String?
        /// The outcomes of all answering workers.
        package var outcomes = RecentEnds()
        /// The providers of all answering workers, those in trouble first.
        package var providers: [Provider] = []
        /// The partitions that workers read, by topic; `nil` unless the addresses are configured and all workers answer.
        package var partitions: [String: Set<Int32>]?

        package init(areNamed: Bool, asked: Int, answering: Int, ready: Int, problem: String? = nil) {
            self.areNamed = areNamed
            (self.asked, self.answering, self.ready, self.problem) = (asked, answering, ready, problem)
        }
    }

    /// A provider as one worker reports it in `/status`, or several of them together.
    package struct Provider: Sendable, Hashable, Decodable {
        /// Names of `CircuitBreaker.State`, the worst first.
        private static let states = ["open", "half-open", "paused", "closed"]

        private enum CodingKeys: String, CodingKey {
            case name = "provider", state = "breaker", reason = "breakerReason", calls = "lastCalls"
            case openForSeconds, pausedForSeconds
        }

        package var name: String
        /// The worst state of the provider's breaker in any worker, and why it is not `closed`.
        package var state: String
        package var reason: String?
        private var openForSeconds: Double?
        private var pausedForSeconds: Double?
        /// `nil` from workers of earlier versions.
        package var calls: RecentEnds?
        /// The number of workers in which the provider has this state.
        package var workers = 1

        /// The remaining time of the state in seconds.
        package var secondsLeft: Double? { openForSeconds ?? pausedForSeconds }
        /// True if the provider is not called without restriction, or at least half of the calls fail.
        package var isInTrouble: Bool { state != "closed" || calls?.areFailing == true }

        /// Combines the reports of workers, those in trouble first, then by name.
        package static func combine(_ reports: [Provider]) -> [Provider] {
            func rank(_ provider: Provider) -> Int { states.firstIndex(of: provider.state) ?? states.count }
            return Dictionary(grouping: reports, by: \.name).values.compactMap { reports in
                guard let worst = reports.min(by: { rank($0) < rank($1) }) else { return nil }
                var all = worst
                all.workers = reports.count { $0.state == worst.state }
                all.calls = .sum(of: reports.compactMap(\.calls))
                return all
            }.sorted { ($0.isInTrouble ? 0 : 1, $0.name) < ($1.isInTrouble ? 0 : 1, $1.name) }
        }
    }

    /// The newest reading. It is old if the brokers are unreachable.
    package var backlog: GroupBacklog?
    /// Why the brokers are unreachable; `nil` while they answer.
    package var brokersProblem: String?
    /// Why reachable brokers do not describe the group, for example because this user is not authorised.
    package var groupProblem: String?
    /// `nil` before the first check, and in a console without an open page.
    package var workers: Workers?

    package init(
        backlog: GroupBacklog? = nil, brokersProblem: String? = nil, groupProblem: String? = nil,
        workers: Workers? = nil
    ) {
        self.backlog = backlog
        (self.brokersProblem, self.groupProblem, self.workers) = (brokersProblem, groupProblem, workers)
    }

    package var verdict: Verdict {
        if brokersProblem != nil { return .brokersAway }
        // A worker answers before it joins the group and after it has left it.
        if let workers, workers.answering > 0 {
            if workers.ready == 0 { return .workersNotReady }
            if workers.errors != nil || workers.outcomes.areFailing { return .answersWithErrors }
            return unread.isEmpty ? .working : .partitionsUnread
        }
        guard groupProblem == nil, let backlog else { return .unknown }
        if backlog.members?.isEmpty == true { return .noWorker }
        if backlog.isProgressing { return unread.isEmpty ? .working : .partitionsUnread }

        // A killed worker stays in the group for its session timeout, and an admin endpoint may be unreachable from this
        // machine. Only a backlog without progress distinguishes the two.
        let areSilent = workers.map { $0.areNamed && $0.asked > 0 } ?? false
        guard backlog.members != nil else { return areSilent ? .noWorker : .unknown }
        return areSilent && (backlog.waiting ?? 0) > 0 && backlog.rates != nil ? .noWorker : .working
    }

    /// The group's states in which partitions are being assigned, with either group protocol.
    private static let rebalancing: Set = ["PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"]

    /// The partitions that no worker reads while the group does not rebalance: no member has them, or a program that is not
    /// a worker.
    package var unread: [GroupBacklog.Partition] {
        guard let backlog, brokersProblem == nil, groupProblem == nil, !Self.rebalancing.contains(backlog.state ?? "")
        else { return [] }
        if let read = workers?.partitions, !read.isEmpty {
            return backlog.partitions.filter { read[$0.topic ?? backlog.topic]?.contains($0.number) != true }
        }
        let isAssigned = backlog.partitions.contains { $0.member != nil }
        return isAssigned ? backlog.partitions.filter { $0.member == nil } : []
    }

    /// The time needed for the present backlog. The measured rate applies only while there are workers.
    package var workOff: GroupBacklog.WorkOff {
        guard let backlog else { return .unknown }
        let isStanding = [.noWorker, .workersNotReady, .brokersAway].contains(verdict)
        return isStanding && (backlog.waiting ?? 0) > 0 ? .never : backlog.workOff
    }

    /// A line for a person that explains the verdict; `nil` if there is nothing to add.
    package var problem: String? {
        switch verdict {
        case .brokersAway: brokersProblem
        case .workersNotReady: workers?.problem
        case .answersWithErrors: workers?.errors
        case .unknown: groupProblem
        case .working, .noWorker, .partitionsUnread: nil
        }
    }
}

/// How requests or calls ended in a recent period.
package struct RecentEnds: Sendable, Hashable, Decodable {
    /// The codes of ends that are no failures of the service: the request is answered, or its client caused the error.
    private static let regular: Set<String> = ["ok", "invalid-request", "not-found", "superseded"]
    /// With fewer ends, a share of failures has no significance.
    private static let least = 3

    /// The length of the period; 0 if nothing was reported.
    package var seconds: Double
    /// The number of ends by code; the code `ok` counts those without an error.
    package var counts: [String: Int]

    package init(seconds: Double = 0, counts: [String: Int] = [:]) { (self.seconds, self.counts) = (seconds, counts) }

    package static func sum(of all: [RecentEnds]) -> RecentEnds {
        let counts = all.map(\.counts).reduce(into: [:]) { $0.merge($1) { $0.saturatingAdding($1) } }
        return RecentEnds(seconds: all.map(\.seconds).max() ?? 0, counts: counts)
    }

    package var total: Int { counts.values.reduce(0) { $0.saturatingAdding(max(0, $1)) } }
    package var failed: Int { failures.values.reduce(0) { $0.saturatingAdding($1) } }
    /// The share of failures in percent, rounded up: 0 only without a failure.
    package var failedPercent: Int { Int(saturating: (Double(failed) * 100 / Double(max(1, total))).rounded(.up)) }
    /// The code of most failures.
    package var mainCode: String? { failures.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key }
    /// True if at least half end with a failure.
    package var areFailing: Bool { total >= Self.least && Double(failed) >= Double(total) / 2 }

    private var failures: [String: Int] { counts.filter { !Self.regular.contains($0.key) } }
}
