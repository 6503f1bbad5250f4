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

        package init(areNamed: Bool, asked: Int, answering: Int, ready: Int, problem: String? = nil) {
            self.areNamed = areNamed
            self.asked = asked
            self.answering = answering
            self.ready = ready
            self.problem = problem
        }
    }

    /// The newest reading. It is old if the brokers are unreachable.
    package var backlog: GroupBacklog?
    /// Why the brokers are unreachable; `nil` while they answer.
    package var brokersProblem: String?
    /// Why reachable brokers do not describe the group, for example because this user is not authorised.
    package var groupProblem: String?
    /// `nil` before the first check.
    package var workers: Workers?

    package init(
        backlog: GroupBacklog? = nil, brokersProblem: String? = nil, groupProblem: String? = nil,
        workers: Workers? = nil
    ) {
        self.backlog = backlog
        self.brokersProblem = brokersProblem
        self.groupProblem = groupProblem
        self.workers = workers
    }

    package var verdict: Verdict {
        if brokersProblem != nil { return .brokersAway }
        // A worker answers before it joins the group and after it has left it.
        if let workers, workers.answering > 0 { return workers.ready > 0 ? .working : .workersNotReady }
        guard groupProblem == nil, let backlog else { return .unknown }
        if backlog.members?.isEmpty == true { return .noWorker }
        if backlog.isProgressing { return .working }

        // A killed worker stays in the group for its session timeout, and an admin endpoint may be unreachable from this
        // machine. Only a backlog without progress distinguishes the two.
        let areSilent = workers.map { $0.areNamed && $0.asked > 0 } ?? false
        guard backlog.members != nil else { return areSilent ? .noWorker : .unknown }
        return areSilent && (backlog.waiting ?? 0) > 0 && backlog.rates != nil ? .noWorker : .working
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
        case .unknown: groupProblem
        case .working, .noWorker: nil
        }
    }
}
