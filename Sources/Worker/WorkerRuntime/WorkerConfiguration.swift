package import Basics
internal import EventContract

/// The settings for how a worker takes, runs and answers requests. Kafka and the providers have separate settings.
package struct WorkerConfiguration: Sendable, Hashable {
    /// The names of the topics.
    package struct Topics: Sendable, Hashable {
        /// `topics.requests`: the topics that the worker reads, at least one. The program's own commands write to the
        /// first.
        package var requestTopics = [RequestTopic("location-search.requests")]
        /// `topics.results`: one record for each request that succeeded.
        package var results = "location-search.results"
        /// `topics.errors`: one record for each request that failed.
        package var errors = "location-search.errors"
        /// `topics.deadLetters`: the unchanged bytes of every record that is not a valid request.
        package var deadLetters = "location-search.dead-letters"

        /// `topics.fleet`: the messages that workers exchange, for example about limits that they share by demand.
        package var fleet = "location-search.fleet"

        package init() {}

        /// The name of the first request topic.
        package var requests: String {
            get { requestTopics[0].name }
            set { requestTopics = [RequestTopic(newValue)] }
        }

        /// The names of the topics that the worker reads, then of those to which it writes outcomes.
        package var all: [String] { requestTopics.map(\.name) + [results, errors, deadLetters] }

        /// Makes an encoder that addresses outcomes to these topics.
        func outcomeEncoder(seed: UInt64) -> OutcomeEncoder {
            OutcomeEncoder(seed: seed, results: results, errors: errors)
        }
    }

    /// `worker.ordering`: which outcomes are published in the order of their requests.
    package enum Ordering: String, Sendable, CaseIterable {
        /// Outcomes are published as soon as they are ready.
        case unordered
        /// Outcomes of one key are published in order; other keys are independent.
        case key
        /// Outcomes of one partition are published in order.
        case partition
    }

    /// `worker.delivery`: the guarantee for outcomes when a worker crashes.
    package enum Delivery: String, Sendable, CaseIterable {
        /// No outcome is lost; those in flight and since the last commit may be published twice.
        case atLeastOnce = "at-least-once"
        /// Outcomes and offsets share a Kafka transaction: `read_committed` consumers see each outcome once.
        case exactlyOnce = "exactly-once"
    }

    /// `worker.fairBy`: what identifies a tenant. Each class divides scarce capacity among its tenants.
    package enum FairBy: Sendable, Hashable {
        /// Requests of a class are not distinguished.
        case none
        /// The CloudEvents attribute `source`.
        case source
        /// The record's key.
        case key
        /// A header of the record.
        case header(String)
    }

    /// How requests that differ in class or tenant wait for their calls.
    package struct Flows: Sendable, Hashable {
        package var fairBy = FairBy.none
        /// `worker.fairWeights`.
        package var fairness = FairTerms()
        /// `worker.lookAheadBytes`: the most bytes of memory for waiting requests in this process.
        package var lookAheadBytes = 64 << 20
    }

    package var topics = Topics()
    /// The name by which operators know this worker: its host or pod. Dead letters name it. `nil`: they do not.
    package var name: String?
    /// `worker.concurrency`: the most requests in flight in this process, over all loops. At least 1.
    package var concurrency = 256
    /// `worker.loops`: the number of event loops, each with a dedicated thread, consumer, producer and connections.
    package var loops = 1
    package var timeLimits = RequestTimeLimits()
    /// `worker.maxRequestBytes`: larger records are rejected as invalid.
    package var maxRequestBytes = 65_536
    package var ordering = Ordering.unordered
    package var flows = Flows()
    package var delivery = Delivery.atLeastOnce
    /// `worker.shutdownGrace`: the time for requests in flight to finish when a drain begins.
    package var shutdownGrace: Duration = .seconds(25)
    /// `worker.commitInterval`: the longest time for which finished work may be uncommitted. A crash repeats
    /// uncommitted work, so no request begins beyond this limit.
    package var commitInterval: Duration = .seconds(1)

    /// `worker.doneSetBytes`: the most bytes of metadata with each committed offset, for requests that are done
    /// although an earlier one is not. At most the brokers' `offset.metadata.max.bytes`, whose default is the default
    /// here. 0: no metadata.
    package var doneSetBytes = 4096

    /// `worker.requestSteps`: whether each outcome lists the steps of its request in the header `request-steps`.
    package var requestSteps = false

    /// The time for requests in flight on a revoked partition to finish. It is well below the group's rebalance timeout
    /// (`max.poll.interval.ms`, 5 minutes), so that other members do not wait for long.
    package var revokeGrace: Duration { min(shutdownGrace, .seconds(10)) }

    /// True if requests differ in class or tenant. The worker then reads ahead, and requests wait in this process until
    /// they may begin. Otherwise they wait in their topic, and are taken as they come.
    package var ordersRequests: Bool {
        flows.fairBy != .none || Set(topics.requestTopics.map(\.classes)).count > 1
            || topics.requestTopics.contains { $0.classes.count > 1 }
    }

    /// The most outcomes in one transaction. It keeps the retry of an aborted transaction short.
    static let largestTransaction = 1000

    /// The most unconfirmed outcomes of one loop; `nil`: the number in `intakeLimits`. Simulations use a small number.
    package var unconfirmedOutcomes: Int?

    /// The limits of one loop's work.
    ///
    /// The limit for unconfirmed outcomes allows for the broker round trips at full speed, and keeps their memory
    /// small. Their bytes are in memory twice, here and in librdkafka's queue: about 300 large outcomes.
    ///
    /// With exactly-once there is room for two transactions: one in flight, and one that gathers outcomes. With less,
    /// requests would wait for the commit: 512 outcomes and a transaction of 100 ms allow about 3,000 requests a
    /// second.
    ///
    /// With exactly-once, an outcome may also wait for earlier requests, if an order is promised or there are no
    /// done-sets. Most waiting outcomes are in memory only once. The limit is therefore 16 MiB, so that 1,600 outcomes
    /// of 10 KB can wait behind a slow request. The oldest request of each partition is exempt from these limits, so
    /// that it always ends: it is taken before all others, or `WaitingRoom` begins it.
    var intakeLimits: IntakeGate.Limits {
        let inFlight = max(1, concurrency / loops)
        let (outcomes, unconfirmedBytes) =
            delivery == .exactlyOnce ? (2 * Self.largestTransaction, 16 << 20) : (512, 3 << 20)
        return IntakeGate.Limits(
            inFlight: inFlight, open: inFlight + (unconfirmedOutcomes ?? max(outcomes, 2 * concurrency / loops)),
            unconfirmedBytes: unconfirmedBytes / loops)
    }

    /// The most records of one partition from the oldest unfinished to the newest taken. Beyond it, reading of that
    /// partition pauses.
    ///
    /// It bounds the work that a crash repeats if one request hangs until its deadline. With done-sets, a crash repeats
    /// none of that work, and delivered records behind an open one take no memory, so the limit is high.
    var maxSpan: Int { max(doneSetBytes > 0 ? 1_000_000 : 2048, 8 * concurrency) }

    /// The same limit for a partition with many open requests; `nil` if there is none. If requests begin in another order
    /// than they were read, the done-set may have a gap after every offset. It then takes a byte for six offsets, and
    /// crash notes take a quarter of the bytes. A transaction waits until it fits.
    var maxScatteredSpan: Int? {
        guard ordersRequests, delivery == .atLeastOnce, doneSetBytes > 0 else { return nil }
        return max(doneSetBytes.saturatingMultiplied(by: 4), 2048, 8 * concurrency)
    }

    package init() {}
}

/// A topic from which requests are read, and the classes of its requests: an entry of `topics.requests`.
package struct RequestTopic: Sendable, Hashable {
    package var name: String
    /// The class of a request that does not choose one. If the topic has only one class, the choice of a request is
    /// ignored.
    package var standardClass: RequestClass
    /// The classes that a request of the topic may choose with its `priority`, including `standardClass`.
    package var classes: Set<RequestClass>

    /// - Parameter classes: the first is the standard class. Empty: only interactive.
    package init(_ name: String, classes: [RequestClass] = [.interactive]) {
        self.name = name
        standardClass = classes.first ?? .interactive
        self.classes = Set(classes).union([standardClass])
    }
}
