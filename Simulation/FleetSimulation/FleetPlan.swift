import Basics
import ProviderCalls
import QuotaSharing
import Resilience
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// Everything about one schedule that is decided before it begins: how the workers are set, what they have to do, and what goes
/// wrong when. It follows from the seed; leaving out faults changes nothing else, so that a failure can be narrowed down.
public struct FleetPlan: Sendable {
    /// One request as its producer sends it.
    struct Request: Sendable {
        var number: Int
        /// Seconds from the beginning.
        var time: Double
        var partition: Int32
        /// The record's key; outcomes of one key keep their order with `worker.ordering=key`.
        var key: String
        /// The text that is searched for. Requests with the same text may share a call.
        var keyword: String
        /// Seconds until nobody has a use for the answer; `nil`: it is always of use.
        var lifetime: Double?
        /// False for a record that is no request.
        var isValid: Bool
        /// The session that the search belongs to.
        var session: String?
        /// Which provider it names, or `auto`.
        var provider = "hotpepper"
        var requestClass = RequestClass.interactive
        /// The header by which tenants are told apart; `nil`: the record has none.
        var tenant: String?
        /// Bytes that a record that is no request has in addition.
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
    /// The part of commits whose answer is lost, and whose producer is fenced before it can ask again.
    var lostCommits = 0.0
    /// The part of the answers to offsets of transactions that are dropped, so that the call to send them never returns.
    var hungOffsets = 0.0
    static let mostHangs = 6
    /// The seconds from the beginning within which offsets of transactions are long on their way; `nil` in most plans.
    var lateOffsets: ClosedRange<Double>?
    /// Parts per million by which members' clocks go wrong, at most.
    var drift: Double
    /// The most seconds by which members' wall clocks are ahead or behind at first.
    var wallSkew = 0.0
    var settings = DrawnSettings()
    /// How workers tell requests apart; `nil`: all are alike.
    var mixture: Mixture?
    /// False for brokers that keep no text beside a committed offset, such as Tansu.
    var keepsMetadata = true
    /// The processes that are of an older version: see `isOlder`.
    var olderProcesses: UInt64 = 0

    // MARK: - The provider

    var latency: ClosedRange<Double>
    var failures: Double
    var rateLimit: RateLimit?
    var share: FleetShare
    var whenOpen: ProviderPolicy.WhenOpen
    var callsPerDay: Int?
    /// The provider's own limit, of which the workers know nothing.
    var quota: ProviderQuota?
    /// A provider beside the one that all else is about.
    var secondProvider: SecondProvider?

    /// Some answers are large: see `isLarge`.
    var hasLargeAnswers = false

    // MARK: - What happens

    var requests: [Request]
    /// How requests are written that are written in a transaction, by their numbers.
    var transactions: [Int: RequestTransaction] = [:]
    /// `max.message.bytes` of topics, where they have their own.
    var sizeLimits: [String: Int] = [:]
    public var faults: [Fault]
    /// When more requests come than the rate allows, although nothing goes wrong; `nil` in most plans.
    var fullLoad: FullLoad?

    /// Faults end here, in seconds from the beginning.
    private(set) var faultsEnd = FleetPlan.longest
    private static let longest = 40.0
    private static let patience = 150.0
    /// The last request comes before this time.
    var requestsEnd: Double { faultsEnd * 0.75 }
    /// When nothing goes wrong any more and no request comes: from here on, the rest has to be answered.
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

        // Most mistakes need two members, few need four, and each adds as much to the cost as the first.
        members = [1, 1, 1, 2, 2, 2, 2, 3, 3, 4].randomElement(using: &workers) ?? 2
        lanes = workers.chance(0.2) ? 2 : 1
        isStatic = workers.chance(0.2)
        groupProtocol = workers.chance(0.3) ? .consumer : .classic
        assignor = Bool.random(using: &workers) ? .range : .cooperativeSticky
        losesAssignmentByStaleCommits = workers.chance(0.3)
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
    }

    /// Has calls to send offsets hang. Left out is where times are judged that such calls would lengthen.
    private mutating func makeHungOffsets(_ random: inout SeededGenerator) {
        guard delivery == .exactlyOnce, fullLoad == nil, lateOffsets == nil, waitForPoisons == 0, random.chance(0.15)
        else { return }
        hungOffsets = Double.random(in: 0.02...0.2, using: &random)
    }

    /// Has everything happen in a part of the time. Most schedules are short, so that more of them can be run: what takes long is
    /// not what happens but what goes on meanwhile, heartbeats and looks at the clock.
    private mutating func shorten(to part: Double) {
        faultsEnd *= part
        for index in requests.indices { requests[index].time *= part }
        for index in faults.indices { faults[index].time *= part }
    }

    /// Sets a burst of up to a second and a half's worth, in place of a tenth of a second's.
    private mutating func makeBursts(_ random: inout SeededGenerator) {
        guard let limit = rateLimit, random.chance(0.5) else { return }
        rateLimit = RateLimit(
            perSecond: limit.perSecond, burst: limit.perSecond * Double.random(in: 0.2...1.5, using: &random))
    }

    /// Adds what goes wrong with the fleet's topic, where workers use it.
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

    /// Has more requests come within ten seconds than the rate allows, so that the rate or the budget is what holds them back.
    /// Most are in one partition at a time, so that the other members have quota to lease out.
    private mutating func makeCrowd(_ random: inout SeededGenerator) {
        rateLimit = RateLimit(perSecond: Double(Int.random(in: 4...24, using: &random)))
        // A slow provider would take longer for them all than they are waited for.
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

    /// Adds what is rare: a topic that refuses records, brokers that are away for longer than a call about a transaction may
    /// take, transactions that are given up while their member stands still, and commits that nobody can ask about again.
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
        // A third of all schedules is calm, so that what holds without faults is judged by stricter rules.
        guard !random.chance(0.33) else { return [] }
        return (0..<Int.random(in: 1...8, using: &random)).map { _ in
            Fault(
                time: Double.random(in: 1...(longest - 8), using: &random),
                kind: Fault.Kind.draw(&random, members: members, brokers: brokers))
        }
        .sorted { $0.time < $1.time }
    }

    /// True when workers have something to say to each other.
    var usesFleetTopic: Bool { callsPerDay != nil || (hasRateLimit && share == .byDemand) }

    /// True when nothing goes wrong: no fault but what is harmless, and no message that is lost or late.
    var isCalm: Bool { areBrokersWell && hungOffsets == 0 }

    /// True when nothing is wrong between clients and brokers. Calls of the clients may hang all the same.
    var areBrokersWell: Bool { faults.allSatisfy(\.isHarmless) && fateOfMessages.isPerfect && lostCommits == 0 }

    /// True when members only come and go as they are told to, and every message arrives: nothing is repeated then.
    ///
    /// Two things make a difference. A static member loses its place when its successor starts before it has ended. And
    /// librdkafka before 2.10 takes everything away when a commit meets a rebalance, so that what was in flight is done again.
    var isGraceful: Bool {
        if isCalm {
            return !(groupProtocol == .classic && assignor == .cooperativeSticky && losesAssignmentByStaleCommits)
        }
        return fateOfMessages.isPerfect && hungOffsets == 0 && faults.allSatisfy(\.isGraceful) && !isStatic
            && !losesAssignmentByStaleCommits
    }

    /// True when a request may be handed back that has cost nothing yet: it waits for its turn at the rate limit, for calls of the
    /// budget to be granted, or for the breaker. What is done behind it is done again by the next owner.
    var handsBackWhatWaits: Bool {
        hasRateLimit || callsPerDay != nil || (whenOpen == .hold && failures > 0)
    }

    /// Seconds from the beginning by which everything is answered that is to be answered: what is usual, and the time that the
    /// provider itself needs for so many requests.
    var patience: Double {
        // A call that fails is made again, and a deploy or a crash may waste some.
        let calls = 2.5 * Double(requests.count)
        let time = calls * (latency.lowerBound + latency.upperBound) / 2
        let waitForBudget = whenOpen == .hold ? callsPerDay.map { (calls / Double($0) + 1) * FleetWorld.day } ?? 0 : 0
        // Behind a record that is no request, nothing of its partition begins before all earlier ones are done, and some calls hang.
        let letters = failures > 0 ? requests.count { !$0.isValid } : 0
        // One partition is one lane's, which has its part of the concurrency. Where there is little room for outcomes, they may wait for
        // requests that begin one by one.
        let atOnce = mixture?.unconfirmedOutcomes == nil ? concurrency / lanes : 1
        return Self.patience + clockSteps + waitForOrders + waitForPoisons + Double(letters) * settings.deadline
            + max(time / Double(max(1, atOnce)), waitForBudget)
    }
}

extension SeededGenerator {
    mutating func chance(_ part: Double) -> Bool { Double.random(in: 0..<1, using: &self) < part }
}

/// What becomes of the messages between clients and brokers.
struct MessageFates: Sendable {
    /// Parts of all messages. One that is lost takes its connection with it.
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

    /// Draws what becomes of one message.
    func draw(_ random: inout SeededGenerator) -> SimulatedNetwork.Fate {
        func delay() -> Int64 {
            let usual = Double.random(in: 0.0003...0.003, using: &random)
            return Int64((random.chance(late) ? usual + Double.random(in: 0.1...1.5, using: &random) : usual) * 1e9)
        }
        var fate = SimulatedNetwork.Fate(
            requestDelay: random.chance(lost) ? nil : delay(), answerDelay: random.chance(answerLost) ? nil : delay())
        let isLost = fate.requestDelay == nil || fate.answerDelay == nil
        // Most connections are reset at once; of some the client learns nothing for a while.
        if isLost, random.chance(0.3) {
            fate.noticedAfter = Int64(Double.random(in: 0.01...4, using: &random) * 1e9)
        }
        return fate
    }
}
