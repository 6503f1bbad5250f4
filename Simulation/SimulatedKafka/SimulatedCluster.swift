/// A model of a Kafka cluster: a state machine whose entry points are the requests of Kafka's protocol.
///
/// It has no clock, no threads and no randomness. The caller sets the time: `advance(to:)` fires due events, and
/// `nextDeadline` returns the time of the next one. Every request names the broker that it was sent to, or `nil` for the
/// responsible one, and is answered with Kafka's error codes. JoinGroup, SyncGroup, and waiting Produce and Fetch requests are
/// answered through a closure, possibly later.
///
/// The scope of the model: docs/internals/simulation.md.
package final class SimulatedCluster {
    package var rules: ClusterRules
    /// Virtual time in nanoseconds.
    package private(set) var now: Int64

    /// The time from the end of a transaction until the coordinator has written its markers. Called once for each end.
    package var markerDelay: () -> Int64 = { ClusterRules.millisecond }
    /// The permissions that are denied to clients.
    package var denied: Set<Permission> = []
    /// The brokers whose disk is full: partitions that they lead can be neither written nor read.
    package var fullDisks: Set<Int32> = []

    final class Topic {
        let id: UInt64
        var settings: TopicSettings
        var partitions: [PartitionLog] = []

        init(id: UInt64, settings: TopicSettings) {
            self.id = id
            self.settings = settings
        }
    }

    /// The coordinator of a group or a transactional id.
    struct Seat {
        var broker: Int32
        /// Counts the former coordinators. Markers of an older one are rejected.
        var epoch: Int32 = 0
        var loadedAt: Int64 = 0
    }

    var topics = ShortTable<String, Topic>()
    var groups = ShortTable<String, GroupState>()
    var transactions = TransactionTable()
    private var seats: [FindCoordinatorRequest.Key: Seat] = [:]
    private(set) var downBrokers: Set<Int32> = []

    var nextTopicID: UInt64 = 1
    var nextProducerID: Int64 = 1_000
    private var nextMember = 1

    /// Fetches that wait for a first record. Below: produces that wait for the other replicas.
    var waitingFetches: [WaitingFetch] = []
    var waitingProduces: [WaitingProduce] = []

    package init(rules: ClusterRules = ClusterRules(), now: Int64 = 0) {
        self.rules = rules
        self.now = now
    }

    /// Drops topics, groups, transactions, and waiting requests.
    package func forgetEverything() {
        (topics, groups, transactions) = (ShortTable(), ShortTable(), TransactionTable())
        (waitingFetches, waitingProduces) = ([], [])
    }

    // MARK: - Time

    /// The time of the next event without a request, such as the end of a session; `nil`: there is none.
    package var nextDeadline: Int64? {
        // Read before and after every request, so it makes no arrays and copies no members.
        var next: Int64?
        let areAllUp = downBrokers.isEmpty
        for group in groups.values where areAllUp || isCoordinated(.group(group.name)) {
            next.lower(to: group.nextDeadline)
        }
        for index in transactions.open.indices
        where areAllUp || isCoordinated(.transaction(transactions.open[index].id)) {
            next.lower(to: deadline(of: transactions.open[index]))
        }
        for index in waitingFetches.indices { next.lower(to: waitingFetches[index].end) }
        for index in waitingProduces.indices { next.lower(to: waitingProduces[index].end) }
        return next
    }

    /// Advances the time, and fires the events that are due in the order of their deadlines.
    /// - Parameters:
    ///   - time: Not before `now`.
    ///   - isPastDeadline: False if the caller knows that `nextDeadline` is later than `time`. Computing that takes longer than most
    ///     requests.
    package func advance(to time: Int64, pastDeadline isPastDeadline: Bool = true) {
        while isPastDeadline, let due = nextDeadline, due <= time {
            now = max(now, due)
            fireDue()
        }
        now = max(now, time)
    }

    private func fireDue() {
        // Usually a fetch has waited long enough, and nothing else is due.
        if groups.values.contains(where: isDue) {
            for name in groups.keys.sorted() {
                if let group = groups[name], isDue(group) { group.fire(at: now) }
            }
        }
        if transactions.open.contains(where: isDue) {
            for id in transactions.open.map(\.id).sorted() {
                if let transaction = transactions[id], isDue(transaction) { fire(id) }
            }
        }
        endWaits()
    }

    private func isDue(_ group: GroupState) -> Bool {
        group.nextDeadline ?? .max <= now && isCoordinated(.group(group.name))
    }

    private func isDue(_ transaction: TransactionMetadata) -> Bool {
        deadline(of: transaction) ?? .max <= now && isCoordinated(.transaction(transaction.id))
    }

    // MARK: - Brokers

    package var brokers: [Int32] { (1...rules.brokers).filter { !downBrokers.contains($0) } }

    /// Stops or starts a broker.
    ///
    /// Its partitions keep their leader until `failOver` is called, as while the controller waits for the broker's session to end.
    /// The network must not deliver requests to a stopped broker.
    package func setBroker(_ broker: Int32, isUp: Bool) {
        guard isUp else {
            downBrokers.insert(broker)
            return
        }
        guard downBrokers.remove(broker) != nil else { return }
        // A restarted broker reloads the groups and transactions that it coordinates, as a new coordinator does.
        for name in groups.keys.sorted() where coordinator(.group(name)) == broker {
            moveCoordinator(.group(name), to: broker)
        }
        for id in transactions.ids.sorted() where coordinator(.transaction(id)) == broker {
            moveCoordinator(.transaction(id), to: broker)
        }
    }

    /// False while the coordinator is down: sessions and timeouts then do not expire.
    private func isCoordinated(_ key: FindCoordinatorRequest.Key) -> Bool {
        downBrokers.isEmpty || isUp(coordinator(key))
    }

    package func isUp(_ broker: Int32) -> Bool { !downBrokers.contains(broker) }

    /// Moves the partitions and coordinators of a broker to the next one that is up.
    /// - Parameter loading: The time for which the new coordinators load.
    package func failOver(from broker: Int32, loading: Int64 = 0) {
        guard let next = brokers.first(where: { $0 > broker }) ?? brokers.first(where: { $0 != broker }) else { return }
        moveLeaders(from: broker)
        for group in groups.keys.sorted() where coordinator(.group(group)) == broker {
            moveCoordinator(.group(group), to: next, loading: loading)
        }
        for id in transactions.ids.sorted() where coordinator(.transaction(id)) == broker {
            moveCoordinator(.transaction(id), to: next, loading: loading)
        }
        // Keys without a coordinator so far are assigned to the first broker that is up: see `seat`.
    }

    /// Moves the leadership of a broker's partitions to the next broker that is up.
    package func moveLeaders(from broker: Int32) {
        guard let next = brokers.first(where: { $0 > broker }) ?? brokers.first(where: { $0 != broker }) else { return }
        for name in topics.keys.sorted() {
            let count = topics[name]?.partitions.count ?? 0
            for index in 0..<count where topics[name]?.partitions[index].leader == broker {
                moveLeader(of: PartitionID(name, Int32(index)), to: next)
            }
        }
    }

    // MARK: - Coordinators

    /// Returns the broker that coordinates a group or a transactional id.
    package func coordinator(_ key: FindCoordinatorRequest.Key) -> Int32 { seat(key).broker }

    func seat(_ key: FindCoordinatorRequest.Key) -> Seat {
        if let seat = seats[key] { return seat }
        let name =
            switch key {
            case .group(let name): name
            case .transaction(let name): name
            }
        let sum = name.utf8.reduce(UInt32(7)) { ($0 &* 31) &+ UInt32($1) }
        let candidates = brokers.isEmpty ? [1] : brokers
        let seat = Seat(broker: candidates[Int(sum) % candidates.count])
        seats[key] = seat
        return seat
    }

    /// Moves a coordinator; the target may be the same broker, as after a restart.
    ///
    /// Waiting joins are answered with NOT_COORDINATOR, and the group is as it was when it last became stable.
    /// - Parameter loading: The time for which the new coordinator answers COORDINATOR_LOAD_IN_PROGRESS.
    package func moveCoordinator(_ key: FindCoordinatorRequest.Key, to broker: Int32, loading: Int64 = 0) {
        let old = seat(key)
        seats[key] = Seat(broker: broker, epoch: old.epoch + 1, loadedAt: now + loading)
        switch key {
        case .group(let name): groups[name]?.reload(at: now + loading)
        case .transaction(let id):
            transactions[id]?.loadedAt = now + loading
            guard case .ending = transactions[id]?.state else { return }
            transactions[id]?.markersDue = now + loading + markerDelay()
        }
    }

    /// Returns the error of a request to a coordinator at this broker, if it cannot answer.
    func coordinatorError(_ key: FindCoordinatorRequest.Key, at broker: Int32?) -> ErrorCode? {
        let seat = seat(key)
        if let broker, broker != seat.broker { return .notCoordinator }
        return now < seat.loadedAt ? .coordinatorLoadInProgress : nil
    }

    package func findCoordinator(_ request: FindCoordinatorRequest) -> FindCoordinatorResponse {
        switch request.key {
        case .group(let name):
            if denied.contains(.readGroup(name)) { return FindCoordinatorResponse(error: .groupAuthorizationFailed) }
        case .transaction(let id):
            if denied.contains(.writeTransactionalID(id)) {
                return FindCoordinatorResponse(error: .transactionalIDAuthorizationFailed)
            }
        }
        guard !brokers.isEmpty else { return FindCoordinatorResponse(error: .coordinatorNotAvailable) }
        return FindCoordinatorResponse(error: .none, broker: seat(request.key).broker)
    }

    func makeMemberID(_ prefix: String) -> String {
        defer { nextMember += 1 }
        return "\(prefix)-\(nextMember)"
    }
}

extension Int64? {
    /// Takes the earlier of two times; `nil` means never.
    mutating func lower(to time: Int64?) {
        guard let time else { return }
        self = Swift.min(self ?? .max, time)
    }
}
