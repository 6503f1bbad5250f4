/// Whether requests get through: what the brokers tell of the workers' group, and what the workers tell of themselves.
package struct PipelineReport: Sendable, Hashable {
    /// The one thing to know first.
    package enum Verdict: String, Sendable {
        /// Nothing has been asked yet, or too little is known to say.
        case unknown
        case working
        /// No broker answers, or not in time.
        case brokersAway = "brokers-away"
        /// No worker is there.
        case noWorker = "no-worker"
        /// There are workers, and none of them takes requests.
        case workersNotReady = "workers-not-ready"
    }

    /// What the admin endpoints of the workers have answered.
    package struct Workers: Sendable, Hashable {
        /// True when somebody has named their addresses. Else only the usual one of this machine was tried, where no worker
        /// needs to be.
        package var areNamed: Bool
        package var asked: Int
        package var answering: Int
        package var ready: Int
        /// Why the first one that answers is not ready.
        package var problem: String?

        package init(areNamed: Bool, asked: Int, answering: Int, ready: Int, problem: String? = nil) {
            self.areNamed = areNamed
            self.asked = asked
            self.answering = answering
            self.ready = ready
            self.problem = problem
        }
    }

    /// The newest reading. It is old where the brokers are away.
    package var backlog: GroupBacklog?
    /// Why the brokers cannot be asked; `nil` while they answer.
    package var brokersProblem: String?
    /// Why brokers that answer do not tell of the group, such as that this user may not ask.
    package var groupProblem: String?
    /// `nil` until they were asked.
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

        // A worker that was killed stays in the group for its session timeout. Only where requests wait for nothing does its
        // silence tell that from a worker whose admin endpoint this machine cannot reach.
        let areSilent = workers.map { $0.areNamed && $0.asked > 0 } ?? false
        guard backlog.members != nil else { return areSilent ? .noWorker : .unknown }
        return areSilent && (backlog.waiting ?? 0) > 0 && backlog.rates != nil ? .noWorker : .working
    }

    /// How long the group takes for what waits now: at the rate of before only while there are workers.
    package var workOff: GroupBacklog.WorkOff {
        guard let backlog else { return .unknown }
        let isStanding = [.noWorker, .workersNotReady, .brokersAway].contains(verdict)
        return isStanding && (backlog.waiting ?? 0) > 0 ? .never : backlog.workOff
    }

    /// The line of the verdict for a person; `nil` where there is nothing to add.
    package var problem: String? {
        switch verdict {
        case .brokersAway: brokersProblem
        case .workersNotReady: workers?.problem
        case .unknown: groupProblem
        case .working, .noWorker: nil
        }
    }
}
