import Basics
import EventLoop
import LocationSearch
import Logging
import ProviderCalls
import QuotaSharing
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// A schedule in progress: a cluster, a provider, the workers, their requests, and the faults.
final class FleetWorld {
    let plan: FleetPlan
    let simulation: Simulation
    let network: SimulatedNetwork
    let provider: SimulatedProvider
    let fleetMessages = SimulatedFleetClients.Messages()
    /// The current processes by their member number.
    private(set) var workers: [Int: SimulatedWorker] = [:]
    /// All processes that were ever started.
    private(set) var everyWorker: [SimulatedWorker] = []
    /// The largest number of processes that were alive at one time.
    private(set) var mostAlive = 0
    private var starts: [Int: Int] = [:]
    /// The seconds by which each member's wall clock is ahead.
    var wallOffsetOfMember: [Int: Double] = [:]
    /// All changes of processes' wall clocks, in the order of time.
    var wallOffsets: [WallOffset] = []
    var clockRandom: SeededGenerator
    /// The number of operators' orders about budgets.
    var ordersGiven = 0
    /// The number of dead letters that were sent back.
    var redriven = 0
    var movedOffsets: [MovedOffsets] = []
    /// The times at which members were killed, in seconds from the beginning.
    private(set) var kills: [Double] = []
    /// The crashes of processes by records.
    private(set) var crashes: [Crash] = []
    let poisons: [String: FleetPlan.Poison]
    /// The periods in which members were stopped or cut off from a broker, in seconds from the beginning.
    private(set) var interruptions: [ClosedRange<Double>] = []
    /// The revocations that members completed on request.
    var handovers: [Handover] = []
    /// The times at which members lost partitions without notice, in seconds from the beginning.
    var losses: [Double] = []
    var ownership = Ownership()
    /// The breakers of every process that was ever started, by process name.
    var breakers: [String: BreakerWatch] = [:]
    /// The times at which partitions were added to the requests topic.
    var growths: [Instant] = []
    /// The times at which processes started, drained or were killed, in seconds from the beginning. Each of these causes a rebalance.
    private(set) var changesOfMembers: [Double] = []
    /// The requests that are written, by partition and offset.
    ///
    /// Requests of a deleted topic are kept under the name that `archiveRequests` gave it.
    var requestAt: [PartitionID: [Int64: FleetPlan.Request]] = [:]
    private var areFaultsOver = false
    /// The time of the next `lookAtCare`.
    private var nextLook = Instant(nanoseconds: 0)
    private var hangRandom = SeededGenerator(seed: 0)
    private var hangs = 0
    /// The effects of the fleet topic's faults on the budget's count.
    var budgetCount = BudgetCount()
    /// True once all workers are draining at the end: no more processes start.
    private var isEnding = false
    /// The number of times that a fault met a phase of the workers that it hit.
    private(set) var coverage: [String: Int] = [:]
    /// Receives the lines of the story, with their time.
    private let tell: ((String) -> Void)?

    /// The calls counted by the workers of earlier schedules.
    private let countedBefore: [PriceClass: Int]
    /// The simulation's time at the beginning of the schedule.
    let beginning: Instant

    /// The same time by the brokers' clock.
    private let beginningOfBrokers: Int64

    private static let start = WallTime(milliseconds: 1_767_225_600_000)
    /// A budget day, in seconds of a schedule.
    static let day = 20.0

    init(_ plan: FleetPlan, tell: ((String) -> Void)? = nil) {
        self.plan = plan
        self.tell = tell
        poisons = plan.poisons
        simulation = Simulation(seed: plan.seed)
        beginning = simulation.now
        countedBefore = PriceClass.allCases.reduce(into: [:]) { $0[$1] = SimulatedWorker.callsCounted(as: $1) }
        var rules = ClusterRules()
        rules.brokers = plan.brokers
        rules.memberEpochCheck = plan.memberEpochCheck
        if plan.memberEpochCheck == .sinceAssignment { rules.consumerAssignmentInterval = ClusterRules.second }
        rules.consumerSessionTimeout = 6 * ClusterRules.second
        rules.consumerHeartbeatInterval = ClusterRules.second
        rules.transactionTimeoutInterval = ClusterRules.second
        rules.keepsOffsetMetadata = plan.keepsMetadata

        let scheduler = SimulationScheduler(simulation, start: Self.start)
        beginningOfBrokers = scheduler.now
        network = SimulatedNetwork(
            cluster: SimulatedCluster(rules: rules, now: scheduler.now), scheduler: scheduler)
        var seeds = SeededGenerator(seed: plan.seed &+ 1)
        provider = SimulatedProvider(simulation, plan: plan, random: seeds.fork())
        var fates = seeds.fork()
        clockRandom = seeds.fork()
        network.fate = { [unowned self] message in
            let fate = areFaultsOver ? MessageFates.perfect.draw(&fates) : plan.fateOfMessages.draw(&fates)
            return delayingOffsets(losingCommits(fate, of: message), of: message)
        }
        var jitter = seeds.fork()
        network.backoffJitter = { Double.random(in: -0.25...0.5, using: &jitter) }
        hangRandom = seeds.fork()
        provider.isBreakerOpen = { [unowned self] process, provider in
            // `BreakerWatch` does not distinguish the lanes of a process.
            plan.lanes == 1 && breakers[process]?.isOpen(provider) == true
        }
        provider.onCrash = { [unowned self] process, loop, keyword in crash(process, on: loop, by: keyword) }
        for (topic, partitions) in Self.topics(plan) {
            network.reach { _ = $0.createTopic(CreateTopicRequest(topic, settings(of: topic, partitions))) }
        }
    }

    func settings(of topic: String, _ partitions: Int32) -> TopicSettings {
        var settings = TopicSettings(partitions: partitions)
        settings.maxMessageBytes = plan.sizeLimits[topic]
        return settings
    }

    static func topics(_ plan: FleetPlan) -> [(String, Int32)] {
        var topics = [
            (SimulatedWorker.requests, plan.partitions), ("results", 2), ("errors", 2),
            (SimulatedWorker.deadLetters, 1),
        ]
        if plan.usesFleetTopic { topics.append((SimulatedWorker.fleetTopic, 1)) }
        if let count = plan.mixture?.batchPartitions { topics.append((SimulatedWorker.batchRequests, count)) }
        return topics
    }

    // MARK: - Running

    /// Runs the schedule up to the time at which everything must be answered.
    /// - Parameter isDone: called every now and then after the last fault.
    func run(isDone: () -> Bool) throws(SimulationError) {
        func look() -> Bool {
            lookAtCare()
            return true
        }
        for number in 0..<plan.members {
            after(Double.random(in: 0...0.5, using: &simulation.random)) { [self] in launch(number) }
        }
        for request in plan.requests { after(request.time) { [self] in write(request) } }
        for fault in plan.faults { after(fault.time) { [self] in strike(fault) } }
        after(plan.end) { [self] in heal() }

        try simulation.run(for: .seconds(plan.end + 1), while: look)
        while simulation.elapsed < .seconds(plan.patience), !isDone() {
            try simulation.run(for: .seconds(1), while: look)
        }
    }

    /// Looks at the lanes of all running processes. This adds no event, so the schedule stays the same.
    private func lookAtCare() {
        guard simulation.now >= nextLook else { return }
        nextLook = simulation.now + CareWatch.interval
        for worker in everyWorker where worker.state == .running {
            for lane in worker.lanes { lane.lookAtCare(at: simulation.now) }
        }
    }

    /// Drains all workers, and waits until they have ended or `time` has passed.
    func end(within time: Duration) throws(SimulationError) {
        isEnding = true
        // This includes processes that were already replaced: two faults may fill a place twice.
        for worker in everyWorker { worker.drain() }
        let end = simulation.now + time
        while simulation.now < end, everyWorker.contains(where: \.isAlive) {
            try simulation.run(for: .milliseconds(500))
        }
    }

    /// Releases the recorded data. The memory of suspended tasks of killed processes is never freed, so it must not hold the world.
    func forgetEverything() {
        simulation.forgetEvents()
        network.forgetEverything()
        provider.forgetCalls()
    }

    func after(_ seconds: Double, _ action: @escaping () -> Void) {
        simulation.schedule(after: .seconds(seconds), action)
    }

    func say(_ line: @autoclosure () -> String) {
        guard let tell else { return }
        tell("\((simulation.elapsed / .seconds(1)).threeDecimals) s  \(line())")
    }

    /// Returns the seconds from the beginning to a time of the brokers' clock.
    func secondsOfSchedule(at time: Int64) -> Double { Double(time - beginningOfBrokers) / 1e9 }

    /// Writes the position of every partition to the story, in case one is stuck.
    func reportPositions() {
        guard tell != nil else { return }
        for (partition, committed) in network.cluster.committed(by: SimulatedWorker.group).sorted(by: {
            $0.key < $1.key
        }) {
            let log = network.cluster.log(of: partition)
            say(
                "\(partition) is committed up to \(committed) of \(log?.highWatermark ?? -1), stable up to \(log?.lastStableOffset ?? -1)"
            )
        }
        for worker in everyWorker where worker.isAlive {
            for lane in worker.lanes { say("\(worker.name): \(lane.source.story)") }
        }
    }

    // MARK: - Workers

    func launch(_ number: Int) {
        guard !isEnding else { return }
        let start = starts[number, default: 0]
        starts[number] = start + 1
        let worker = SimulatedWorker(number: number, start: start, plan: plan, world: self)
        setWallClock(of: worker, member: number)
        worker.onEnd = { [unowned self] worker in ended(worker, number) }
        workers[number] = worker
        everyWorker.append(worker)
        changesOfMembers.append(beginning.duration(to: simulation.now) / .seconds(1))
        mostAlive = max(mostAlive, everyWorker.count(where: \.isAlive))
        say("\(worker.name) starts")
        worker.start()
    }

    /// Restarts a process that ended by itself, as an orchestrator does. A process that was drained has been replaced already.
    private func ended(_ worker: SimulatedWorker, _ number: Int) {
        say("\(worker.name) ends: \(worker.state)")
        guard workers[number] === worker, case .ended(let failure) = worker.state, failure != nil else { return }
        after(1) { [self] in
            if workers[number] === worker { launch(number) }
        }
    }

    /// True if a process ended by itself, for example because its producers were fenced again and again.
    var hasFailedMember: Bool {
        everyWorker.contains { worker in
            if case .ended(failure: .some) = worker.state { true } else { false }
        }
    }

    /// The times at which the graces of drained members ended, in seconds from the beginning.
    var graceEnds: [Double] {
        everyWorker.compactMap(\.drainedAt).map { beginning.duration(to: $0) / .seconds(1) + plan.shutdownGrace }
    }

    func makeLog(_ name: String) -> Logger {
        guard tell != nil else { return Logger(label: name) { _ in SwiftLogNoOpLogHandler() } }
        return Logger(label: name) { _ in StoryLog { [weak self] line in self?.say("\(name): \(line)") } }
    }

    /// The fleet's budgets. A day has 20 s, so that a schedule has several.
    static func budgetPolicy(_ budgets: [Budget], for loop: EventLoop) -> BudgetPolicy {
        BudgetPolicy(budgets) { now in
            let day = dayOfBudget(at: loop.wallNow)
            let month = MonthBudget.month(ofDay: day.number)
            let daysLeft = Double((month + 1) * MonthBudget.days - day.number - 1)
            let monthEnd = now + .seconds(day.left + daysLeft * Self.day)
            return [
                .hotpepper: [
                    .day: BudgetPeriod(label: label(ofDay: day.number), end: now + .seconds(day.left)),
                    .month: BudgetPeriod(label: MonthBudget.label(month), end: monthEnd),
                ]
            ]
        }
    }

    /// Returns the name of a budget day.
    static func label(ofDay number: Int) -> String {
        labels.indices.contains(number) ? labels[number] : "day \(number + 1000)"
    }

    /// The names of the days that a schedule has, precomputed because every tick of a member needs one.
    private static let labels = (0..<20).map { "day \($0 + 1000)" }

    /// The time that a correct wall clock shows.
    var wallNow: WallTime {
        let passed = Int64(beginning.duration(to: simulation.now).milliseconds(roundedUp: false))
        return WallTime(milliseconds: Self.start.milliseconds.saturatingAdding(passed))
    }

    /// Returns the number of the budget day at a time, from 0, and the remaining seconds of that day.
    static func dayOfBudget(at time: WallTime) -> (number: Int, left: Double) {
        let passed = Double(time.milliseconds.saturatingSubtracting(start.milliseconds)) / 1000
        let number = (passed / day).rounded(.down)
        return (Int(saturating: number), (number + 1) * day - passed)
    }

    // MARK: - Requests

    private func write(_ request: FleetPlan.Request) {
        if let transaction = plan.transactions[request.number] { return writeInTransaction(request, transaction) }
        let partition = partition(of: request)
        let record = RequestRecord.make(request, at: network.scheduler.now)
        if !write(record, to: partition, of: request) {
            // The request's producer tries again, as producers do.
            after(0.5) { [self] in write(request) }
        }
    }

    /// Writes a request's record.
    /// - Returns: `false` if the brokers do not accept it.
    func write(_ record: SimulatedRecord, to partition: PartitionID, of request: FleetPlan.Request) -> Bool {
        network.reach { cluster in
            let answer = cluster.produce(ProduceRequest([ProduceRequest.Batch(partition, [record])], acks: 1))
            guard let result = answer.results.first, result.error == .none else { return false }
            note(request, at: partition, offset: result.baseOffset)
            return true
        }
    }

    func note(_ request: FleetPlan.Request, at partition: PartitionID, offset: Int64) {
        requestAt[partition, default: [:]][offset] = request
    }

    /// False for a request that was deleted or compacted away, so that its record can no longer be read.
    func isThere(_ partition: PartitionID, _ offset: Int64) -> Bool {
        network.cluster.holds(offset, in: partition)
    }

    /// The names under which the requests of deleted topics are kept, in the order of their deletion.
    var archivedTopics: [String] = []
    /// The times of these deletions, in seconds from the beginning.
    var deletionTimes: [String: Double] = [:]
    /// How far any member has read each partition of the requests topic, and the id of that topic.
    var readEnds: [PartitionID: (topic: UInt64, offset: Int64)] = [:]
    /// Descriptions of stored offsets that lay beyond the records read.
    var unreadCommits: [String] = []
    /// The partitions that stay paused until an operator acts.
    var pausedPartitions: Set<PartitionID> = []
    /// The offsets of a former topic at which members went on in the recreated one.
    var staleStarts: [PartitionID: Int64] = [:]
    /// Requests of a recreated topic that a commit listed as done before any member had read them.
    var staleDone: [PartitionID: Set<Int64>] = [:]
    /// The done-set of the commit at which a member last began to read a recreated topic.
    var inheritedDone: [PartitionID: DoneSet] = [:]
    /// The offsets below which waiting members skip the records of a recreated topic, and the id of that topic.
    var waits: [PartitionID: (topic: UInt64, offset: Int64)] = [:]
    /// The partitions of deleted topics, with the entries that readers could see.
    var deletedOutputs: [String: [[LogEntry]]] = [:]
    /// Requests whose outcomes were in an open transaction when their topic was deleted.
    var excused: [PartitionID: Set<Int64>] = [:]

    /// Returns the entries that readers of committed records see, for each partition of a topic, including deleted ones.
    func outputs(of topic: String) -> [[LogEntry]] {
        (deletedOutputs[topic] ?? []) + partitions(of: topic).compactMap { network.cluster.log(of: $0)?.committed }
    }

    /// The number of written requests.
    var requestCount: Int { requestAt.values.reduce(0) { $0 + $1.count } }

    /// Returns the number of calls that the schedule's workers have counted under a price class.
    func callsCounted(as priceClass: PriceClass) -> Int {
        SimulatedWorker.callsCounted(as: priceClass) - (countedBefore[priceClass] ?? 0)
    }

    // MARK: - Faults

    /// Loses the answer to the end of a transaction, and fences its producer before the producer can ask again.
    ///
    /// Only the group's offsets then show whether the transaction was committed.
    private func losingCommits(
        _ fate: SimulatedNetwork.Fate, of message: SimulatedNetwork.Message
    ) -> SimulatedNetwork.Fate {
        guard message.kind == .endTxn, !areFaultsOver, let arrival = fate.requestDelay,
            simulation.random.chance(plan.lostCommits), let id = transactionalID(of: message.client)
        else { return fate }

        for pause in [0.001, 0.004, 0.02] {
            after(Double(arrival) / 1e9 + pause) { [network] in
                network.reach { _ = $0.initProducerID(InitProducerIDRequest(id)) }
            }
        }
        var fate = fate
        fate.answerDelay = nil
        return fate
    }

    /// Returns true for transaction offsets whose sender never receives an answer.
    ///
    /// The number of them is limited so that no lane has more of such producers than a worker allows.
    func dropsAnswerToOffsets() -> Bool {
        guard plan.hungOffsets > 0, !areFaultsOver, hangs < FleetPlan.mostHangs, hangRandom.chance(plan.hungOffsets)
        else { return false }
        hangs += 1
        return true
    }

    /// Delays transaction offsets as the plan demands.
    private func delayingOffsets(
        _ fate: SimulatedNetwork.Fate, of message: SimulatedNetwork.Message
    ) -> SimulatedNetwork.Fate {
        guard message.kind == .txnOffsetCommit, fate.requestDelay != nil, let late = plan.lateOffsets,
            late.contains(beginning.duration(to: simulation.now) / .seconds(1)),
            simulation.random.chance(FleetPlan.lateOffsetsShare)
        else { return fate }
        var fate = fate
        fate.requestDelay = Int64(Double.random(in: FleetPlan.delayOfLateOffsets, using: &simulation.random) * 1e9)
        return fate
    }

    private func transactionalID(of client: String) -> String? {
        for worker in everyWorker where worker.isAlive {
            let lane = worker.lanes.first { $0.sinks.clientIDs.contains(client) }
            if let lane { return lane.sinks.transactionalID }
        }
        return nil
    }

    /// The transactional ids of all live processes.
    var transactionalIDs: [String] {
        everyWorker.filter(\.isAlive).flatMap { $0.lanes.compactMap(\.sinks.transactionalID) }
    }

    private func strike(_ fault: Fault) {
        say("FAULT \(fault)")
        // A crash caused by a record happens when the record is run.
        if case .poison = fault.kind { return }
        cover(fault)
        switch fault.kind {
        case .kill(let member, let back):
            guard let worker = struck(member) else { return }
            kill(worker)
            after(back) { [self] in
                // A deploy may have replaced the process meanwhile.
                if workers[member] === worker { launch(member) }
            }
        case .stop(let member, let seconds):
            guard let worker = struck(member) else { return }
            noteInterruption(of: worker, for: seconds)
            stop(worker, for: seconds)
        case .cut(let member, let broker, let direction, let seconds):
            guard let worker = struck(member) else { return }
            noteInterruption(of: worker, for: seconds)
            for client in worker.clientIDs {
                network.hold(
                    client, and: broker, direction.map { [$0] } ?? SimulatedNetwork.Direction.allCases,
                    until: network.scheduler.now + Int64(seconds * 1e9))
            }
        case .brokerDown(let broker, let failover, let seconds):
            takeDown(broker, failover: failover, seconds: seconds)
        case .coordinatorsMove(let broker, let loading):
            moveCoordinators(to: broker, loading: Int64(loading * 1e9))
        case .deploy(let member):
            guard let worker = struck(member) else { return }
            worker.drain()
            replace(worker, at: member)
        case .scale(let up):
            scale(up: up)
        case .topicRefuses(let topic, let seconds):
            network.reach { $0.denied.formUnion([.writeTopic(topic)]) }
            after(seconds) { [network] in network.reach { $0.denied.subtract([.writeTopic(topic)]) } }
        case .fleetTopic(let trouble, let seconds):
            strikeFleetTopic(trouble, seconds: seconds)
        case .providerFails(let hangs, let seconds):
            provider.mood = hangs ? .hangs : .fails
            after(seconds) { [provider] in provider.mood = .usual }
        case .clockStep(let member, let seconds):
            guard let worker = struck(member) else { return }
            stepWallClock(of: worker, member: member, by: seconds)
        case .budgetOrder(let calls):
            orderBudget(callsOfDay: calls)
        case .redrive: redrive()
        case .offsetsBack(let records): moveOffsetsBack(by: records)
        case .metadataLost: loseMetadata()
        case .metadataCopied(let records): loseMetadata(movingBackBy: records, keepingText: true)
        case .cluster(let clusterFault):
            strike(clusterFault)
        case .poison: break
        }
    }

    func kill(_ worker: SimulatedWorker) {
        worker.kill()
        noteKill()
    }

    private func noteKill() {
        kills.append(beginning.duration(to: simulation.now) / .seconds(1))
        changesOfMembers.append(beginning.duration(to: simulation.now) / .seconds(1))
    }

    func noteCrash(_ crash: Crash) {
        crashes.append(crash)
        noteKill()
    }

    private func noteInterruption(of worker: SimulatedWorker, for seconds: Double) {
        let start = beginning.duration(to: simulation.now) / .seconds(1)
        interruptions.append(start...start + seconds)
        budgetCount.absences.append((worker.name, simulation.now...simulation.now + .seconds(seconds)))
    }

    /// SIGSTOP: neither the loops nor the clients' threads run, and incoming data waits in the kernel.
    private func stop(_ worker: SimulatedWorker, for seconds: Double) {
        for lane in worker.lanes { lane.loop.freeze(until: simulation.now + .seconds(seconds)) }
        for client in worker.clientIDs { network.freeze(client, until: network.scheduler.now + Int64(seconds * 1e9)) }
    }

    /// Returns the worker that a fault hits; `nil` if the place is empty.
    func struck(_ member: Int) -> SimulatedWorker? {
        guard let worker = workers[member], worker.isAlive else { return nil }
        return worker
    }

    func count(_ fault: Fault, _ phase: String) {
        coverage["\(fault.name) / \(phase)", default: 0] += 1
    }

    /// Starts the next process of a place after 0.2 s. With half of all seeds, a static member's successor
    /// waits for its end, as in a StatefulSet.
    private func replace(_ worker: SimulatedWorker, at member: Int) {
        after(0.2) { [self] in
            guard workers[member] === worker else { return }
            if plan.isStatic, plan.seed.isMultiple(of: 2), worker.isAlive { return replace(worker, at: member) }
            launch(member)
        }
    }

    private func scale(up: Bool) {
        if up { return launch(workers.keys.max().map { $0 + 1 } ?? 0) }
        let alive = workers.filter { $0.value.isAlive }
        guard alive.count > 1, let last = alive.keys.max() else { return }
        workers[last]?.drain()
    }

    private func takeDown(_ broker: Int32, failover: Double, seconds: Double) {
        guard network.cluster.isUp(broker) else { return }
        network.stop(broker)
        after(min(failover, seconds)) { [network, plan] in
            if plan.brokers > 1, !network.cluster.isUp(broker) {
                network.reach { $0.failOver(from: broker, loading: 100_000_000) }
            }
        }
        after(seconds) { [network] in network.start(broker) }
    }

    private func moveCoordinators(to broker: Int32, loading: Int64) {
        guard network.cluster.isUp(broker) else { return }
        let keys =
            [FindCoordinatorRequest.Key.group(SimulatedWorker.group)]
            + transactionalIDs.map(FindCoordinatorRequest.Key.transaction)
        network.reach { cluster in
            for key in keys { cluster.moveCoordinator(key, to: broker, loading: loading) }
        }
    }

    /// Ends all faults, and makes sure that every place has a worker.
    private func heal() {
        say("all faults have ended")
        areFaultsOver = true
        provider.mood = .usual
        // A breaker that a provider keeps open forever would park requests forever.
        if plan.whenOpen == .hold { provider.fails = false }
        for broker in 1...plan.brokers where !network.cluster.isUp(broker) { network.start(broker) }
        network.releaseAll()
        network.reach { $0.denied = [] }
        makeFleetTopic()
        healCluster()
        let isNobodyThere = !workers.values.contains { $0.state == .running }
        if isNobodyThere { launchOneMore() }
        if plan.isStatic, plan.groupProtocol == .classic, !plan.isCalm { rebalanceOnceDeploysHaveEnded() }
        after(Self.timeToFindOut) { [unowned self] in reportAssignments() }
    }

    /// Makes KIP-848 members learn which partitions they have.
    ///
    /// If a member's first join request arrived after its second, it does not know its partitions until an error makes it ask for all
    /// of them. A coordinator that loads for longer than the heartbeat interval gives each member such an error.
    private func reportAssignments() {
        guard network.cluster.repeatedJoins(of: SimulatedWorker.group) > 0 else { return }
        say("coordinators load once more, so that members learn their partitions")
        moveCoordinators(to: 1, loading: 1_500_000_000)
    }

    /// Forces rebalances after all deploys have ended.
    ///
    /// Static members come and go without a rebalance. If one crashes or leaves between revoking partitions and joining
    /// again, these partitions stay without an owner. The same happens to partitions that were added while the leader was
    /// away. Brokers wait for the next rebalance, so this method starts a member. It repeats that if a process finds out
    /// only now that it was replaced, and restarts.
    private func rebalanceOnceDeploysHaveEnded(repeatedly most: Int = 3) {
        guard !everyWorker.contains(where: { $0.state == .draining }) else {
            return after(0.5) { [unowned self] in rebalanceOnceDeploysHaveEnded(repeatedly: most) }
        }
        launchOneMore()
        let changes = changesOfMembers.count
        guard most > 1 else { return }
        after(Self.timeToFindOut) { [unowned self] in
            if changesOfMembers.count > changes { rebalanceOnceDeploysHaveEnded(repeatedly: most - 1) }
        }
    }

    /// More than a session timeout in seconds, after which a process knows whether it was replaced.
    static let timeToFindOut = 8.0

    private func launchOneMore() { launch(workers.keys.max().map { $0 + 1 } ?? 0) }
}

extension MessageFates {
    /// No message is lost or late.
    static let perfect = MessageFates()

    private init() {}
}

extension Double {
    var threeDecimals: String {
        let thousandths = Int(saturating: (self * 1000).rounded())
        let digits = "\(thousandths % 1000)"
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - digits.count) + digits
    }
}
