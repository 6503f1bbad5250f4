import Basics
import EventLoop
import LocationSearch
import Logging
import Resilience
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// One schedule under way: a cluster, a provider, the workers, what they have to do, and what goes wrong.
final class FleetWorld {
    let plan: FleetPlan
    let simulation: Simulation
    let network: SimulatedNetwork
    let provider: SimulatedProvider
    let words = SimulatedFleetClients.Words()
    /// The processes, by the place they take.
    private(set) var workers: [Int: SimulatedWorker] = [:]
    /// Every process there was.
    private(set) var everyWorker: [SimulatedWorker] = []
    /// The most processes that were there at one time.
    private(set) var mostAlive = 0
    private var starts: [Int: Int] = [:]
    /// When processes of one place were there at the same time.
    private var overlaps: [Range<Instant>] = []
    /// When the newest process of each place was started.
    private var startTimes: [Int: Instant] = [:]
    /// The offset of each request, once it is written.
    private(set) var requestAt: [PartitionID: [Int64: FleetPlan.Request]] = [:]
    private var areFaultsOver = false
    /// The days of the budget whose count was lost with the fleet's topic.
    private(set) var forgottenDays: Set<Int> = []
    /// The lines that carry nothing at present, with the end of that.
    private var blocked: [Line: Instant] = [:]

    private struct Line: Hashable {
        let client: String
        let broker: Int32
        let direction: SimulatedNetwork.Direction
    }
    /// Which faults met which state of the worker that they hit.
    private(set) var coverage: [String: Int] = [:]
    /// Gets the lines of the story, with their time.
    private let tell: ((String) -> Void)?

    /// The simulation's time at which the schedule began.
    let beginning: Instant

    /// The same, by the clock of the brokers.
    private let beginningOfBrokers: Int64

    private static let start = WallTime(milliseconds: 1_767_225_600_000)
    /// A day of the budget, in seconds of a schedule.
    static let day = 20.0

    init(_ plan: FleetPlan, tell: ((String) -> Void)? = nil) {
        self.plan = plan
        self.tell = tell
        simulation = Simulation(seed: plan.seed)
        beginning = simulation.now
        var rules = ClusterRules()
        rules.brokers = plan.brokers
        rules.memberEpochCheck = plan.memberEpochCheck
        if plan.memberEpochCheck == .sinceAssignment { rules.consumerAssignmentInterval = ClusterRules.second }
        rules.consumerSessionTimeout = 6 * ClusterRules.second
        rules.consumerHeartbeatInterval = ClusterRules.second
        rules.transactionTimeoutInterval = ClusterRules.second

        let scheduler = SimulationScheduler(simulation, start: Self.start)
        beginningOfBrokers = scheduler.now
        network = SimulatedNetwork(
            cluster: SimulatedCluster(rules: rules, now: scheduler.now), scheduler: scheduler)
        var seeds = SeededGenerator(seed: plan.seed &+ 1)
        provider = SimulatedProvider(simulation, plan: plan, random: seeds.fork())
        var fates = seeds.fork()
        network.fate = { [unowned self] message in
            let fate = areFaultsOver ? MessageFates.perfect.draw(&fates) : plan.fateOfMessages.draw(&fates)
            return delayed(losingCommits(fate, of: message), of: message)
        }
        for (topic, partitions) in Self.topics(plan) {
            network.reach { _ = $0.createTopic(CreateTopicRequest(topic, TopicSettings(partitions: partitions))) }
        }
    }

    private static func topics(_ plan: FleetPlan) -> [(String, Int32)] {
        var topics = [
            (SimulatedWorker.requests, plan.partitions), ("results", 2), ("errors", 2), ("dead-letters", 1),
        ]
        if plan.usesFleetTopic { topics.append((SimulatedWorker.fleetTopic, 1)) }
        return topics
    }

    // MARK: - Running

    /// Runs the schedule up to the time at which everything must be answered.
    /// - Parameter isDone: asked now and then once the faults are over.
    func run(isDone: () -> Bool) throws(SimulationError) {
        for number in 0..<plan.members {
            after(Double.random(in: 0...0.5, using: &simulation.random)) { [self] in launch(number) }
        }
        for request in plan.requests { after(request.time) { [self] in write(request) } }
        for fault in plan.faults { after(fault.time) { [self] in strike(fault) } }
        after(FleetPlan.faultsEnd) { [self] in heal() }

        try simulation.run(for: .seconds(FleetPlan.faultsEnd + 1))
        while simulation.elapsed < .seconds(plan.patience), !isDone() { try simulation.run(for: .seconds(1)) }
    }

    /// Has all workers end.
    func end(within time: Duration) throws(SimulationError) {
        // Also those whose place another one has: two faults may fill it twice.
        for worker in everyWorker { worker.drain() }
        let end = simulation.now + time
        while simulation.now < end, everyWorker.contains(where: \.isAlive) {
            try simulation.run(for: .milliseconds(500))
        }
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

    /// Tells where every partition stands, for a story that ends with one that is stuck.
    func sayWhereItStands() {
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

    private func launch(_ number: Int) {
        let start = starts[number, default: 0]
        starts[number] = start + 1
        let worker = SimulatedWorker(number: number, start: start, plan: plan, world: self)
        worker.onEnd = { [unowned self] worker in ended(worker, number) }
        workers[number] = worker
        everyWorker.append(worker)
        startTimes[number] = simulation.now
        mostAlive = max(mostAlive, everyWorker.count(where: \.isAlive))
        say("\(worker.name) starts")
        worker.start()
    }

    /// A process that ends of itself is started anew, as by an orchestrator; one that was told to end has had its place taken.
    private func ended(_ worker: SimulatedWorker, _ number: Int) {
        say("\(worker.name) ends: \(worker.state)")
        if let next = startTimes[number], workers[number] !== worker, next < simulation.now {
            overlaps.append(next..<simulation.now)
        }
        guard workers[number] === worker, case .ended(let failure) = worker.state, failure != nil else { return }
        after(1) { [self] in
            if workers[number] === worker { launch(number) }
        }
    }

    /// Returns for how long two processes of one place were there, within a time.
    func secondsOfTwo(from start: Instant, to end: Instant) -> Double {
        overlaps.reduce(0) { seconds, overlap in
            let (first, last) = (max(start, overlap.lowerBound), min(end, overlap.upperBound))
            return seconds + (first < last ? first.duration(to: last) / .seconds(1) : 0)
        }
    }

    func makeLog(_ name: String) -> Logger {
        guard tell != nil else { return Logger(label: name) { _ in SwiftLogNoOpLogHandler() } }
        return Logger(label: name) { _ in StoryLog { [weak self] line in self?.say("\(name): \(line)") } }
    }

    /// The fleet's daily budget; days of a minute, so that a schedule sees some.
    static func budgetPolicy(of calls: Int, for loop: EventLoop) -> BudgetPolicy {
        BudgetPolicy(callsPerDay: [.hotpepper: calls]) { now in
            let day = dayOfBudget(at: loop.wallNow)
            return [.hotpepper: BudgetDay(label: "day \(day.number + 100)", end: now + .seconds(day.left))]
        }
    }

    /// Returns the number of the budget's day at a time, from 0, and the seconds that are left of it.
    static func dayOfBudget(at time: WallTime) -> (number: Int, left: Double) {
        let passed = Double(time.milliseconds.saturatingSubtracting(start.milliseconds)) / 1000
        let number = (passed / day).rounded(.down)
        return (Int(saturating: number), (number + 1) * day - passed)
    }

    /// Notes that the fleet's topic takes the day's count with it where no worker knows that: see docs/budgets.md, 8.
    func noteFleetTopicLost() {
        let day = Self.dayOfBudget(at: WallTime(milliseconds: network.scheduler.now / 1_000_000)).number
        if !everyWorker.contains(where: { $0.state == .running }) { forgottenDays.insert(day) }
    }

    // MARK: - Requests

    private func write(_ request: FleetPlan.Request) {
        let partition = PartitionID(SimulatedWorker.requests, request.partition)
        let record = RequestRecord.make(request, at: network.scheduler.now)
        network.reach { cluster in
            let answer = cluster.produce(ProduceRequest([ProduceRequest.Batch(partition, [record])], acks: 1))
            guard let result = answer.results.first, result.error == .none else {
                // Its producer tries again, as producers do.
                return after(0.5) { [self] in write(request) }
            }
            requestAt[partition, default: [:]][result.baseOffset] = request
        }
    }

    /// The number of requests that are written.
    var requestCount: Int { requestAt.values.reduce(0) { $0 + $1.count } }

    // MARK: - Faults

    /// Has nothing pass between clients and a broker for a while. What is sent meanwhile arrives when that is over, as TCP sends
    /// again what was lost.
    func block(_ clients: [String], _ broker: Int32, _ directions: [SimulatedNetwork.Direction], until end: Instant) {
        for client in clients {
            for direction in directions {
                let line = Line(client: client, broker: broker, direction: direction)
                blocked[line] = max(blocked[line] ?? end, end)
            }
        }
    }

    /// Loses the answer to the end of a transaction, and fences its producer before that asks again: then only the group's
    /// offsets say whether the transaction has taken effect.
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

    private func transactionalID(of client: String) -> String? {
        for worker in everyWorker where worker.isAlive {
            let lane = worker.lanes.first { $0.sinks.clientIDs.contains(client) }
            if let lane { return lane.sinks.transactionalID }
        }
        return nil
    }

    private func delayed(
        _ fate: SimulatedNetwork.Fate, of message: SimulatedNetwork.Message
    ) -> SimulatedNetwork.Fate {
        guard !blocked.isEmpty else { return fate }
        func wait(_ direction: SimulatedNetwork.Direction) -> Int64 {
            let line = Line(client: message.client, broker: message.broker, direction: direction)
            return max(0, blocked[line].map { simulation.now.duration(to: $0).wholeNanoseconds } ?? 0)
        }

        var fate = fate
        fate.requestDelay = fate.requestDelay.map { $0 + wait(.requests) }
        fate.answerDelay = fate.answerDelay.map { $0 + wait(.answers) }
        return fate
    }

    private func strike(_ fault: Fault) {
        say("FAULT \(fault)")
        switch fault.kind {
        case .kill(let member, let back):
            guard let worker = struck(member, by: fault) else { return }
            worker.kill()
            after(back) { [self] in
                // A deploy may have taken the place meanwhile.
                if workers[member] === worker { launch(member) }
            }
        case .stop(let member, let seconds):
            guard let worker = struck(member, by: fault) else { return }
            stop(worker, until: simulation.now + .seconds(seconds))
        case .cut(let member, let broker, let direction, let seconds):
            guard let worker = struck(member, by: fault) else { return }
            block(
                worker.clientIDs, broker, direction.map { [$0] } ?? SimulatedNetwork.Direction.allCases,
                until: simulation.now + .seconds(seconds))
        case .brokerDown(let broker, let failover, let seconds):
            count(fault, "cluster")
            takeDown(broker, failover: failover, seconds: seconds)
        case .coordinatorsMove(let broker, let loading):
            count(fault, "cluster")
            moveCoordinators(to: broker, loading: Int64(loading * 1e9))
        case .deploy(let member):
            guard let worker = struck(member, by: fault) else { return }
            worker.drain()
            replace(worker, at: member)
        case .scale(let up):
            count(fault, "fleet")
            scale(up: up)
        case .topicRefuses(let topic, let seconds):
            count(fault, "cluster")
            network.reach { $0.denied.formUnion([.writeTopic(topic)]) }
            after(seconds) { [network] in network.reach { $0.denied.subtract([.writeTopic(topic)]) } }
        case .fleetTopic(let trouble, let seconds):
            count(fault, "cluster")
            strikeFleetTopic(trouble, seconds: seconds)
        case .providerFails(let hangs, let seconds):
            count(fault, "provider")
            provider.mood = hangs ? .hangs : .fails
            after(seconds) { [provider] in provider.mood = .usual }
        }
    }

    /// SIGSTOP: neither the loops run nor the clients' own threads, and what was sent to them waits in the kernel.
    private func stop(_ worker: SimulatedWorker, until end: Instant) {
        for lane in worker.lanes { lane.loop.freeze(until: end) }
        for broker in 1...plan.brokers {
            block(worker.clientIDs, broker, SimulatedNetwork.Direction.allCases, until: end)
        }
    }

    /// Returns the worker that a fault hits; `nil` where the place is empty at present.
    private func struck(_ member: Int, by fault: Fault) -> SimulatedWorker? {
        guard let worker = workers[member], worker.isAlive else { return nil }
        count(fault, worker.state == .draining ? "draining" : "running")
        return worker
    }

    private func count(_ fault: Fault, _ state: String) {
        coverage["\(fault.name) / \(state)", default: 0] += 1
    }

    /// Starts the next process of a place: soon, or for half of all static members when the former one has ended, as
    /// StatefulSets do.
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
        var keys = [FindCoordinatorRequest.Key.group(SimulatedWorker.group)]
        for worker in everyWorker where worker.isAlive {
            keys += worker.lanes.compactMap { $0.sinks.transactionalID.map { .transaction($0) } }
        }
        network.reach { cluster in
            for key in keys { cluster.moveCoordinator(key, to: broker, loading: loading) }
        }
    }

    /// Everything works again, and every place has a worker.
    private func heal() {
        say("all faults are over")
        areFaultsOver = true
        provider.mood = .usual
        for broker in 1...plan.brokers where !network.cluster.isUp(broker) { network.start(broker) }
        blocked = [:]
        network.reach { $0.denied = [] }
        makeFleetTopic()
        // A static member that dies between giving partitions up and joining again leaves them to nobody: its next process takes
        // its place without a rebalance. Brokers wait for the next one, so there is one.
        let needsRebalance = plan.isStatic && plan.groupProtocol == .classic && plan.assignor == .cooperativeSticky
        if needsRebalance || !workers.values.contains(where: { $0.state == .running }) {
            launch(workers.keys.max().map { $0 + 1 } ?? 0)
        }
    }
}

extension MessageFates {
    /// No message is lost, late or doubled.
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
