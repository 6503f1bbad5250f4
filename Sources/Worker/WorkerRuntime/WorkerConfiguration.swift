public import Basics

/// How a worker takes, runs and answers requests. Kafka's and the providers' own settings stand with them.
public struct WorkerConfiguration: Sendable, Hashable {
    /// Names of the topics.
    public struct Topics: Sendable, Hashable {
        /// `topics.requests`: what the worker reads. At least one. The first is the one that the program's own commands write to.
        public var requestTopics = [RequestTopic("location-search.requests")]
        /// `topics.results`: one record per request that succeeded.
        public var results = "location-search.results"
        /// `topics.errors`: one record per request that failed.
        public var errors = "location-search.errors"
        /// `topics.deadLetters`: the untouched bytes of every record that is no request.
        public var deadLetters = "location-search.dead-letters"

        /// `topics.fleet`: what workers tell each other, about limits that they share by demand.
        public var fleet = "location-search.fleet"

        public init() {}

        /// The name of the first topic of requests.
        public var requests: String {
            get { requestTopics[0].name }
            set { requestTopics = [RequestTopic(newValue)] }
        }

        /// The names of those that requests and outcomes go through: what is read first, then what is written.
        public var all: [String] { requestTopics.map(\.name) + [results, errors, deadLetters] }
    }

    /// `worker.ordering`: which outcomes leave in the order of their requests.
    public enum Ordering: String, Sendable, CaseIterable {
        /// Outcomes leave as they are done.
        case unordered
        /// Outcomes of one key leave in order; other keys run freely.
        case key
        /// Outcomes of one partition leave in order.
        case partition
    }

    /// `worker.delivery`: what a crash may do to outcomes.
    public enum Delivery: String, Sendable, CaseIterable {
        /// None lost; those in flight and since the last commit may be published twice.
        case atLeastOnce = "at-least-once"
        /// Outcomes and offsets in one Kafka transaction: `read_committed` consumers see each once.
        case exactlyOnce = "exactly-once"
    }

    /// `worker.fairBy`: what tells tenants apart, among which each class divides what is scarce.
    public enum FairBy: Sendable, Hashable {
        /// All requests of a class are alike.
        case none
        /// The CloudEvents attribute `source`.
        case source
        /// The record's key.
        case key
        /// A header of the record.
        case header(String)
    }

    public var topics = Topics()
    /// The name by which people know this worker: its host or pod. Each dead letter says which worker wrote it. `nil`: it does not.
    public var name: String?
    /// `worker.concurrency`: most requests in flight in this process, over all loops. At least 1.
    public var concurrency = 256
    /// `worker.loops`: event loops, each on a thread of its own with its own consumer, producer and connections.
    public var loops = 1
    /// `worker.deadline`: the time a request has that does not say `timeoutMs`.
    public var deadline: Duration = .seconds(5)
    /// `worker.maxDeadline`: the most that `timeoutMs` can ask for.
    public var maxDeadline: Duration = .seconds(30)
    /// `worker.maxRequestBytes`: larger records are refused as invalid.
    public var maxRequestBytes = 65_536
    /// `worker.maxAge`: older requests end as `expired`, by the record's timestamp. `nil`: off.
    public var maxAge: Duration?
    public var ordering = Ordering.unordered
    public var fairBy = FairBy.none
    /// `worker.batchFloor` and `worker.fairWeights`.
    public var fairness = FairTerms()
    /// `worker.lookAheadBytes`: the memory that requests may take in this process which were read and wait for their turn.
    public var lookAheadBytes = 64 << 20
    public var delivery = Delivery.atLeastOnce
    /// `worker.shutdownGrace`: what is in flight when a drain begins has this long to finish.
    public var shutdownGrace: Duration = .seconds(25)
    /// `worker.commitInterval`: finished work of so much time may be uncommitted, and is repeated after a crash; nothing new
    /// begins where it would be more.
    public var commitInterval: Duration = .seconds(1)

    /// `worker.doneSetBytes`: the most bytes that are kept beside each committed offset, about requests that are done although an
    /// earlier one is not. At most the brokers' `offset.metadata.max.bytes`, whose default this is. 0: nothing is kept.
    public var doneSetBytes = 4096

    /// `worker.requestSteps`: whether each outcome names the steps of its request in the header `request-steps`.
    public var requestSteps = false

    /// The time that requests in flight on a revoked partition have to finish: well below the group's rebalance timeout
    /// (`max.poll.interval.ms`, 5 minutes), so that other members are not held up for long.
    public var revokeGrace: Duration { min(shutdownGrace, .seconds(10)) }

    /// True where requests differ in class or tenant, so that they wait in this process until it is their turn. Elsewhere they wait in
    /// their topic, and are taken as they come.
    public var ordersRequests: Bool {
        fairBy != .none || Set(topics.requestTopics.map(\.classes)).count > 1
            || topics.requestTopics.contains { $0.classes.count > 1 }
    }

    /// The most outcomes of one loop that may wait for the brokers. `nil`: as `intakeLimits` says. Simulations set few.
    package var unconfirmedOutcomes: Int?

    /// The bounds of what one loop takes at once.
    ///
    /// Outcomes on their way to the brokers: enough for the round trips at full speed, little enough to stay small in
    /// memory. Their bytes are in memory twice, here and in librdkafka's queue: some 300 large outcomes.
    ///
    /// With exactly-once there is room for two transactions, one that is under way and one that gathers. With less, requests would wait
    /// for the commit: 512 outcomes and a transaction of 100 ms allow some 3,000 requests a second, however many could be answered.
    ///
    /// With exactly-once an outcome may also wait for the requests before it, where an order is promised or there are no
    /// done-sets, and most of what waits is in memory only once. So there is room for 16 MiB, which lets 1,600 outcomes of 10 KB
    /// wait behind a slow request. The oldest request of each partition is exempt from these bounds, so that it always ends: it is
    /// taken before all others, or `WaitingRoom` begins it.
    var intakeLimits: IntakeGate.Limits {
        let inFlight = max(1, concurrency / loops)
        let (outcomes, unconfirmedBytes) =
            delivery == .exactlyOnce ? (2 * ReadyOutcomes.largestBatch, 16 << 20) : (512, 3 << 20)
        return IntakeGate.Limits(
            inFlight: inFlight, open: inFlight + (unconfirmedOutcomes ?? max(outcomes, 2 * concurrency / loops)),
            unconfirmedBytes: unconfirmedBytes / loops)
    }

    /// The most records of one partition from the oldest unfinished to the newest taken: beyond it that partition waits.
    ///
    /// It bounds what a crash repeats when one request hangs until its deadline. With done-sets a crash repeats none of it, and what
    /// is delivered behind an open record takes no memory, so that the bound is far off.
    var maxSpan: Int { max(doneSetBytes > 0 ? 1_000_000 : 2048, 8 * concurrency) }

    public init() {}
}
