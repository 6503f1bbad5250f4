import Basics
import ProviderCalls
import QuotaSharing
import Resilience
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// Everything about one schedule that is decided before it begins: the workers' settings, the requests, and the faults with their times.
///
/// It follows from the seed. Removing faults changes nothing else, so that a failure can be narrowed down.
public struct FleetPlan: Sendable {
    /// One request as its producer sends it.
    struct Request: Sendable {
        var number: Int
        /// Seconds from the beginning.
        var time: Double
        var partition: Int32
        /// The record's key; outcomes of one key keep their order with `worker.ordering=key`.
        var key: String
        /// The text to search for. Requests with the same text may share a call.
        var keyword: String
        /// The seconds until the request expires; `nil`: it never expires.
        var lifetime: Double?
        /// False for an invalid record.
        var isValid: Bool
        /// The session of the search.
        var session: String?
        /// The name of the provider, or `auto`.
        var provider = "hotpepper"
        var requestClass = RequestClass.interactive
        /// The value of the tenant header; `nil`: the record has none.
        var tenant: String?
        /// The additional bytes of an invalid record.
        var padding = 0
    }

    public let seed: UInt64

    // MARK: - The cluster

    var brokers: Int32
    var partitions: Int32
    var memberEpochCheck: ClusterRules.MemberEpochCheck
    var fateOfMessages: MessageFates

    // MARK: - The workers

    var members: Int
    var lanes: Int
    var isStatic: Bool
    var groupProtocol: SimulatedConsumerSettings.GroupProtocol
    var assignor: SimulatedConsumerSettings.Assignor
    var losesAssignmentByStaleCommits: Bool
    var delivery: WorkerConfiguration.Delivery
    var ordering: WorkerConfiguration.Ordering
    var concurrency: Int
    var shutdownGrace: Double
    var maxAge: Double?
    var transactionTimeout: Double
    /// The fraction of commits whose answer is lost, and whose producer is fenced before it can ask again.
    var lostCommits = 0.0
    /// The fraction of dropped answers to transaction offsets. The call that sends the offsets then never returns.
    var hungOffsets = 0.0
    static let mostHangs = 6
    /// The period in which transaction offsets arrive late, in seconds from the beginning; `nil` in most plans.
    var lateOffsets: ClosedRange<Double>?
    /// The largest drift of members' clocks, in parts per million.
    var drift: Double
    /// The largest initial error of members' wall clocks, in seconds.
    var wallSkew = 0.0
    var settings = DrawnSettings()
    /// The settings that distinguish classes and tenants; `nil`: all requests are alike.
    var mixture: Mixture?
    /// False for brokers that keep no metadata of committed offsets, such as Tansu.
    var keepsMetadata = true
    /// The processes of an older version: see `isOlder`.
    var olderProcesses: UInt64 = 0

    // MARK: - The provider

    var latency: ClosedRange<Double>
    var failures: Double
    var rateLimit: RateLimit?
    var share: FleetShare
    var whenOpen: ProviderPolicy.WhenOpen
    var callsPerDay: Int?
    /// In addition to `callsPerDay`.
    var monthBudget: MonthBudget?
    /// The provider's own limit, which the workers' settings do not contain.
    var quota: ProviderQuota?
    /// A provider in addition to Hot Pepper, to which the other settings of the plan apply.
    var secondProvider: SecondProvider?

    /// True if some answers are large: see `isLarge`.
    var hasLargeAnswers = false

    // MARK: - Events

    var requests: [Request]
    /// The transactions of requests that are written in one, by request number.
    var transactions: [Int: RequestTransaction] = [:]
    /// The `max.message.bytes` of topics that override it.
    var sizeLimits: [String: Int] = [:]
    public var faults: [Fault]
    /// A load beyond the rate limit while there are no faults; `nil` in most plans.
    var fullLoad: FullLoad?

    /// The end of all faults, in seconds from the beginning.
    private(set) var faultsEnd = FleetPlan.longest
    private static let longest = 40.0
    private static let patience = 150.0
    /// The time before which the last request comes.
    var requestsEnd: Double { faultsEnd * 0.75 }
    /// The time after which there are no faults and no new requests. The rest has to be answered from then on.
    var end: Double { faults.isEmpty ? requestsEnd : faultsEnd }

    public init(seed: UInt64) {
        self.seed = seed
        var seeds = SeededGenerator(seed: seed)
        var cluster = seeds.fork()
        var workers = seeds.fork()
        var provider = seeds.fork()
        var work = seeds.fork()
        var chaos = seeds.fork()

        brokers = Bool.random(using: &cluster) ? 3 : 1
        partitions = Int32.random(in: 1...8, using: &cluster)
        memberEpochCheck = Bool.random(using: &cluster) ? .equal : .sinceAssignment
        fateOfMessages = MessageFates(&cluster)

        // Most defects need two members, few need four, and each member adds the same cost.
        members = [1, 1, 1, 2, 2, 2, 2, 3, 3, 4].randomElement(using: &workers) ?? 2
        lanes = workers.chance(0.2) ? 2 : 1
        isStatic = workers.chance(0.2)
        groupProtocol = workers.chance(0.3) ? .consumer : .classic
        assignor = Bool.random(using: &workers) ? .range : .cooperativeSticky
        // The worker uses range with such a librdkafka: see `LibraryVersion.rules`.
        let isOld = workers.chance(0.3)
        losesAssignmentByStaleCommits = isOld && groupProtocol == .classic && assignor == .range
        delivery = Bool.random(using: &workers) ? .exactlyOnce : .atLeastOnce
        ordering = [.unordered, .unordered, .key, .partition].randomElement(using: &workers) ?? .unordered
        concurrency = [2, 8, 64].randomElement(using: &workers) ?? 8
        shutdownGrace = [2, 10].randomElement(using: &workers) ?? 10
        maxAge = workers.chance(0.2) ? 8 : nil
        transactionTimeout = [10, 60].randomElement(using: &workers) ?? 60
        drift = Double.random(in: 0...5_000, using: &workers)

        latency = provider.chance(0.8) ? 0.02...0.3 : 0.2...4
        failures = provider.chance(0.6) ? 0 : Double.random(in: 0...0.3, using: &provider)
        rateLimit = provider.chance(0.5) ? RateLimit(perSecond: Double(Int.random(in: 5...60, using: &provider))) : nil
        share = provider.chance(0.5) ? .byDemand : .byPartitions
        whenOpen = provider.chance(0.3) ? .hold : .fail
        callsPerDay = provider.chance(0.3) ? Int.random(in: 20...150, using: &provider) : nil

        requests = Self.makeRequests(&work, partitions: partitions)
        faults = Self.makeFaults(&chaos, members: members, brokers: brokers)

        var crowd = seeds.fork()
        if crowd.chance(0.15) { makeCrowd(&crowd) }
        var hardship = seeds.fork()
        makeHardship(&hardship)
        var talk = seeds.fork()
        makeFleetTopicTrouble(&talk)
        var brokersFaults = seeds.fork()
        addClusterFaults(&brokersFaults)
        var clocks = seeds.fork()
        makeClockSteps(&clocks)
        var orders = seeds.fork()
        makeBudgetOrders(&orders)
        var redrives = seeds.fork()
        makeRedrives(&redrives)
        var resets = seeds.fork()
        makeOffsetsBack(&resets)
        var sessions = seeds.fork()
        makeSessions(&sessions)
        var settings = seeds.fork()
        makeSettings(&settings)
        var second = seeds.fork()
        makeSecondProvider(&second)
        var size = seeds.fork()
        makeLarger(&size)
        var topics = seeds.fork()
        addTopicFaults(&topics)
        var sizes = seeds.fork()
        makeSizes(&sizes)
        var producers = seeds.fork()
        makeTransactions(&producers)
        var bursts = seeds.fork()
        makeBursts(&bursts)
        var use = seeds.fork()
        var crashes = seeds.fork()
        makeCrashes(&crashes)
        var pace = seeds.fork()
        var remade = seeds.fork()
        makeRequestsTopicAgain(&remade)
        if pace.chance(0.95) { shorten(to: 0.35) }
        makeFullLoad(&use)
        var quotas = seeds.fork()
        makeQuota(&quotas)
        var doneSets = seeds.fork()
        makeDoneSets(&doneSets)
        var doubles = seeds.fork()
        makeDoubledMessages(&doubles)
        var metadata = seeds.fork()
        makeMetadataTrouble(&metadata)
        var deploys = seeds.fork()
        makeDeploysUnderLoad(&deploys)
        var poisons = seeds.fork()
        makePoisons(&poisons)
        var classes = seeds.fork()
        makeClasses(&classes)
        var moving = seeds.fork()
        makeMovingDemand(&moving)
        var offsets = seeds.fork()
        makeLateOffsets(&offsets)
        var hangs = seeds.fork()
        makeHungOffsets(&hangs)
        var months = seeds.fork()
        makeMonthBudget(&months)
    }

    /// Makes calls that send offsets hang, except in schedules with judged times that such calls would lengthen.
    private mutating func makeHungOffsets(_ random: inout SeededGenerator) {
        guard delivery == .exactlyOnce, fullLoad == nil, lateOffsets == nil, waitForPoisons == 0, random.chance(0.15)
        else { return }
        hungOffsets = Double.random(in: 0.02...0.2, using: &random)
    }

    /// Compresses all events into a part of the time. Most schedules are short, so that more of them can be run.
    ///
    /// The cost of a schedule is not in its events but in the time between them, with its heartbeats and checks of the clock.
    private mutating func shorten(to part: Double) {
        faultsEnd *= part
        for index in requests.indices { requests[index].time *= part }
        for index in faults.indices { faults[index].time *= part }
    }

    /// Sets a burst of 0.2 to 1.5 seconds' worth of calls in place of 0.1.
    private mutating func makeBursts(_ random: inout SeededGenerator) {
        guard let limit = rateLimit, random.chance(0.5) else { return }
        rateLimit = RateLimit(
            perSecond: limit.perSecond, burst: limit.perSecond * Double.random(in: 0.2...1.5, using: &random))
    }

    /// Adds faults of the fleet topic, if workers use it.
    private mutating func makeFleetTopicTrouble(_ random: inout SeededGenerator) {
        guard usesFleetTopic, !faults.isEmpty, random.chance(0.3) else { return }
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            let trouble = Fault.FleetTopicTrouble.harmful.randomElement(using: &random) ?? .remade
            let seconds = Double.random(in: 0.1...8, using: &random)
            faults.append(
                Fault(time: Double.random(in: 1...30, using: &random), kind: .fleetTopic(trouble, seconds: seconds)))
        }
        faults.sort { $0.time < $1.time }
    }

    /// Sends more requests within ten seconds than the rate allows, so that the rate or the budget limits them.
    ///
    /// Most are in one partition at a time, so that the other members have quota to lease out.
    private mutating func makeCrowd(_ random: inout SeededGenerator) {
        rateLimit = RateLimit(perSecond: Double(Int.random(in: 4...24, using: &random)))
        // With a slow provider, answering all of them would exceed the schedule's time limit.
        latency = 0.02...0.3
        requests = Self.makeRequests(&random, partitions: partitions, count: 60...200)
        let start = Double.random(in: 0...15, using: &random)
        let hot = (0..<8).map { _ in Int32.random(in: 0..<partitions, using: &random) }
        for index in requests.indices {
            requests[index].time = start + requests[index].time / 3
            if random.chance(0.8) { requests[index].partition = hot[index * hot.count / requests.count] }
        }
        guard random.chance(0.6) else { return }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let member = Int.random(in: 0..<members, using: &random)
            faults.append(
                Fault(
                    time: start + Double.random(in: 1...8, using: &random),
                    kind: random.chance(0.6) ? .deploy(member: member) : .scale(up: random.chance(0.7))))
        }
        faults.sort { $0.time < $1.time }
    }

    /// Adds rare faults: a topic that rejects records, brokers that are away for longer than a transaction call may take,
    /// transactions that time out while their member stands still, and commits whose result the producer cannot query again.
    private mutating func makeHardship(_ random: inout SeededGenerator) {
        if random.chance(0.3) { transactionTimeout = Double.random(in: 1...4, using: &random) }
        guard !faults.isEmpty else { return }
        if random.chance(0.1) { lostCommits = Double.random(in: 0.01...0.1, using: &random) }
        if random.chance(0.15) {
            let topic = ["results", "errors", "dead-letters"].randomElement(using: &random) ?? "results"
            let seconds = Double.random(in: 1...12, using: &random)
            faults.append(
                Fault(time: Double.random(in: 1...25, using: &random), kind: .topicRefuses(topic, seconds: seconds)))
        }
        if random.chance(0.05) {
            let time = Double.random(in: 1...4, using: &random)
            faults.append(Fault(time: time, kind: .brokerDown(1, failover: 35, seconds: 35)))
        }
        faults.sort { $0.time < $1.time }
    }

    private static func makeRequests(
        _ random: inout SeededGenerator, partitions: Int32, count: ClosedRange<Int> = 10...50
    ) -> [Request] {
        let count = Int.random(in: count, using: &random)
        return (0..<count).map { number in
            Request(
                number: number, time: Double.random(in: 0.5...(0.75 * longest), using: &random),
                partition: Int32.random(in: 0..<partitions, using: &random),
                key: "k\(Int.random(in: 0..<6, using: &random))",
                keyword: random.chance(0.1) ? "q\(Int.random(in: 0..<count, using: &random))" : "q\(number)",
                lifetime: random.chance(0.1) ? Double.random(in: 0.5...6, using: &random) : nil,
                isValid: !random.chance(0.03))
        }
        .sorted { $0.time < $1.time }
    }

    private static func makeFaults(_ random: inout SeededGenerator, members: Int, brokers: Int32) -> [Fault] {
        // A third of all schedules has no faults, so that stricter rules apply to them.
        guard !random.chance(0.33) else { return [] }
        return (0..<Int.random(in: 1...8, using: &random)).map { _ in
            Fault(
                time: Double.random(in: 1...(longest - 8), using: &random),
                kind: Fault.Kind.draw(&random, members: members, brokers: brokers))
        }
        .sorted { $0.time < $1.time }
    }

    /// True if workers exchange messages: they have a budget, or share a rate limit by demand.
    var usesFleetTopic: Bool { callsPerDay != nil || (hasRateLimit && share == .byDemand) }

    /// True if there are no faults but harmless ones, and no message is lost or late.
    var isCalm: Bool { areBrokersWell && hungOffsets == 0 }

    /// True if the connections between clients and brokers have no faults. Calls of the clients may still hang.
    var areBrokersWell: Bool { faults.allSatisfy(\.isHarmless) && fateOfMessages.isPerfect && lostCommits == 0 }

    /// True if members only come and go in order, and every message arrives: nothing is repeated then.
    ///
    /// There are two exceptions. A static member loses its membership when its successor starts before it has ended. And with
    /// librdkafka before 2.10, a commit that a fault delayed into the next generation makes a member lose its partitions.
    var isGraceful: Bool {
        isCalm
            || fateOfMessages.isPerfect && hungOffsets == 0 && faults.allSatisfy(\.isGraceful) && !isStatic
                && !losesAssignmentByStaleCommits
    }

    /// True if a waiting request that has cost nothing may be handed back: it waits for the rate limit, for budget calls, or for the
    /// breaker. The next owner repeats the requests that were done behind it.
    var handsBackWhatWaits: Bool {
        hasRateLimit || callsPerDay != nil || (whenOpen == .hold && failures > 0)
    }

    /// The time by which all requests must be answered, in seconds from the beginning: the usual time and
    /// the provider's time for so many requests.
    var patience: Double {
        // Failed calls are retried, and a deploy or a crash may waste some.
        let calls = 2.5 * Double(requests.count)
        let time = calls * (latency.lowerBound + latency.upperBound) / 2
        let waitForBudget = whenOpen == .hold ? callsPerDay.map { (calls / Double($0) + 1) * FleetWorld.day } ?? 0 : 0
        // Behind an invalid record, no request of its partition begins before all earlier ones are done, and some calls hang.
        let letters = failures > 0 ? requests.count { !$0.isValid } : 0
        // One partition belongs to one lane, which has its part of the concurrency. With little room for outcomes, they may wait for
        // requests that begin one by one.
        let atOnce = mixture?.unconfirmedOutcomes == nil ? concurrency / lanes : 1
        return Self.patience + clockSteps + waitForOrders + waitForPoisons + Double(letters) * settings.deadline
            + max(time / Double(max(1, atOnce)), waitForBudget)
    }
}

extension SeededGenerator {
    mutating func chance(_ part: Double) -> Bool { Double.random(in: 0..<1, using: &self) < part }
}

/// The delays and losses of messages between clients and brokers.
struct MessageFates: Sendable {
    /// The fractions of all messages. A lost message breaks its connection.
    var lost = 0.0
    var answerLost = 0.0
    var late = 0.0

    init(_ random: inout SeededGenerator) {
        guard random.chance(0.4) else { return }
        lost = Double.random(in: 0...0.008, using: &random)
        answerLost = Double.random(in: 0...0.008, using: &random)
        late = Double.random(in: 0...0.05, using: &random)
    }

    var isPerfect: Bool { lost + answerLost + late == 0 }

    /// Draws the fate of one message.
    func draw(_ random: inout SeededGenerator) -> SimulatedNetwork.Fate {
        func delay() -> Int64 {
            let usual = Double.random(in: 0.0003...0.003, using: &random)
            return Int64((random.chance(late) ? usual + Double.random(in: 0.1...1.5, using: &random) : usual) * 1e9)
        }
        var fate = SimulatedNetwork.Fate(
            requestDelay: random.chance(lost) ? nil : delay(), answerDelay: random.chance(answerLost) ? nil : delay())
        let isLost = fate.requestDelay == nil || fate.answerDelay == nil
        // Most connections are reset at once; some losses stay unnoticed by the client for a while.
        if isLost, random.chance(0.3) {
            fate.noticedAfter = Int64(Double.random(in: 0.01...4, using: &random) * 1e9)
        }
        return fate
    }
}
