import Basics
import EventContract
import EventLoop
import HTTPTransport
import Kafka
import KafkaTestSupport
import LocationSearch
import Logging
import PlaceProviders
import ProviderCalls
import TestSupport
import WorkerRuntime

/// A broker, a provider, and clients to send requests and read outcomes: real TCP, in this process.
struct WorkerFixture: Sendable {
    let broker: TestBroker
    let topics: WorkerConfiguration.Topics
    let provider: LoopbackHTTPServer
    let tools: EventLoop
    let sender: KafkaProducer
    static let key = "secret-key"
    var outcomeTopics: [String] { [topics.results, topics.errors] }
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The embedded coordinator's joins hang with a session timeout below about 3 s, other brokers need 6 s or more. Some rebalance
    /// with the members' heartbeats.
    static let properties = ["session.timeout.ms": "6000", "heartbeat.interval.ms": "500", "fetch.wait.max.ms": "10"]

    /// The properties of this fixture's consumers.
    private let properties: [String: String]

    /// - Parameter answer: the provider's answer, from the request's target.
    /// - Parameter session: in ms; the embedded coordinator's rebalances take as long, less a second.
    /// - Parameter assignor: `nil`: the one that suits the library.
    init(
        session: Int = 6000, assignor: String? = nil,
        answer: @escaping @Sendable (String) -> LoopbackHTTPServer.Answer = { _ in .init(body: WorkerFixture.shop) }
    ) throws {
        let broker = try TestBroker(topics: ["requests": 4, "results": 4, "errors": 4, "dead-letters": 1])
        self.broker = broker
        let own = ["session.timeout.ms": "\(session)", "partition.assignment.strategy": assignor]
        properties = Self.properties.merging(own.compactMapValues { $0 }) { _, own in own }
        topics = WorkerConfiguration.Topics(on: broker)
        provider = try LoopbackHTTPServer(answer: answer)
        tools = try EventLoop()
        var producer = ProducerConfiguration(bootstrapServers: broker.bootstrapServers)
        producer.properties = ["message.max.bytes": "20000000"]
        sender = try KafkaProducer(loop: tools, configuration: producer, log: log)
    }

    func stop() async {
        await sender.close()
        provider.stop()
        tools.stop()
    }

    /// The transactional id of every lane: each new lane fences the previous one.
    var transactionalID: String { broker.name("lane") }

    /// Runs a worker during `body`, then drains it, whatever the result of `body`. Only then its loop stops: the jobs of a stopped
    /// loop never run, so a task would wait for them forever.
    func whileWorking<Value>(
        at baseURL: String? = nil, policy: ProviderPolicy? = nil,
        _ change: (inout WorkerConfiguration) -> Void = { _ in },
        _ body: (WorkerLane) async throws -> Value
    ) async throws -> Value {
        let loop = try EventLoop()
        defer { loop.stop() }
        let lane = try lane(on: loop, at: baseURL, policy, change)
        let working = Task { try await lane.run() }
        let result = await Result.of { try await body(lane) }
        await lane.drain()
        let end = await working.result
        // The worker's error comes first: after it, the test waited for nothing.
        if case .failure(let error) = end { throw error }
        return try result.get()
    }

    /// Returns a lane of a worker on a separate loop, with all three providers at `baseURL`; by default the fixture's own provider.
    func lane(
        on loop: EventLoop, at baseURL: String? = nil, _ policy: ProviderPolicy? = nil,
        departure: DepartureBarrier = DepartureBarrier(lanes: 1), groupInstanceID: String? = nil,
        _ change: (inout WorkerConfiguration) -> Void = { _ in }
    ) throws -> WorkerLane {
        var configuration = WorkerConfiguration()
        configuration.topics = topics
        configuration.commitInterval = .milliseconds(100)
        change(&configuration)
        var consumer = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        consumer.groupID = broker.name("workers")
        consumer.properties = properties
        consumer.groupInstanceID = groupInstanceID
        let http = HTTPTransport(loop: loop)
        let provider = ProviderConfiguration(baseURL: baseURL ?? self.provider.baseURL, apiKey: Self.key)
        let services: [any PlaceService] = [
            HotpepperService(http: http, configuration: provider),
            GooglePlacesService(http: http, configuration: provider),
            GooglePlacesLegacyService(http: http, configuration: provider),
        ]
        var producer = ProducerConfiguration(bootstrapServers: broker.bootstrapServers)
        if configuration.delivery == .exactlyOnce {
            producer.transactionalID = transactionalID
        }
        let makeProducer = { @Sendable [producer, log] () throws(KafkaError) -> any OutcomeSink in
            try KafkaProducer(loop: loop, configuration: producer, log: log)
        }
        let searches = SearchWorker(
            policies: policy.map { policy in
                Dictionary(uniqueKeysWithValues: ProviderID.allCases.map { ($0, policy) })
            } ?? [:], clock: LoopClock(loop), timekeeper: LoopTimekeeper(loop), random: loop.random)
        return WorkerLane(
            loop: loop, configuration: configuration,
            source: try KafkaConsumer(loop: loop, configuration: consumer, log: log),
            sink: try makeProducer(),
            makeSink: makeProducer,
            providers: LaneProviders(searches, selection: ProviderSelection(services: services)),
            departure: departure, meters: WorkerMeters(topics: configuration.topics), log: log)
    }

    /// Runs one worker until there are as many outcomes as expected, then drains it.
    func run(
        expecting count: Int, _ change: (inout WorkerConfiguration) -> Void = { _ in }
    ) async throws -> [ConsumerRecord] {
        try await whileWorking(change) { _ in try await outcomes { $0.count >= count } }
    }

    /// Runs one worker until each of some requests has an outcome, then drains it. For tests with possible duplicates, in which the
    /// number of outcomes proves nothing.
    func run(
        untilDone ids: [String], _ change: (inout WorkerConfiguration) -> Void = { _ in }
    ) async throws -> [ConsumerRecord] {
        try await whileWorking(change) { _ in
            try await outcomes { records in
                Set(records.compactMap { try? $0.outcome().requestID }).isSuperset(of: ids)
            }
        }
    }

    /// Reads results and errors from the first one on; ends when `isEnough`.
    func outcomes(until isEnough: ([ConsumerRecord]) -> Bool) async throws -> [ConsumerRecord] {
        try await records(of: outcomeTopics, until: isEnough)
    }

    /// - Parameter more: further members, each after a comma.
    static func request(_ id: String, _ more: String = "") -> String {
        #"{"requestId":"\#(id)","provider":"hotpepper","location":{"latitude":35.69,"longitude":139.7}\#(more)}"#
    }

    /// Sends request values, each under its own key.
    func send(_ values: [(key: String, value: String)]) async throws {
        for (key, value) in values { try await send(key, Array(value.utf8)) }
    }

    /// - Parameter partition: `nil`: that of the key.
    func send(_ key: String, _ value: [UInt8]?, headers: [RecordHeader] = [], to partition: Int32? = nil) async throws {
        try await sender.send(
            ProducerRecord(
                topic: topics.requests, partition: partition, key: Array(key.utf8), value: value, headers: headers))
    }

    /// Waits until a worker has committed the offset after the last request: then all have their outcomes,
    /// and the next worker repeats none.
    func allIsCommitted(by lane: WorkerLane) async throws {
        let requests = try await TopicReader(readerConfiguration, log: log).bounds(
            of: topics.requests, within: .seconds(20))
        let ends = requests.filter { !$0.value.isEmpty }.mapValues { $0.upperBound }
        try await eventually("all offsets are committed", within: .seconds(60)) {
            let positions = await lane.status.positions
            let committed = Dictionary(uniqueKeysWithValues: positions.map { ($0.id, $0.committed) })
            return ends.allSatisfy { committed[$0.key] == $0.value }
        }
    }

    /// Returns all current records of some topics.
    func contents(of topics: [String], atLeast known: Int? = nil) async throws -> [ConsumerRecord] {
        try await TopicReader(readerConfiguration, log: log).contents(of: topics, atLeast: known)
    }

    private var readerConfiguration: ConsumerConfiguration {
        var configuration = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.properties = properties
        return configuration
    }

    /// Returns a consumer that is independent of the workers.
    func member(of group: String) throws -> KafkaConsumer {
        var configuration = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.groupID = group
        configuration.properties = properties
        return try KafkaConsumer(loop: tools, configuration: configuration, log: log)
    }

    /// Returns a transactional producer that competes with the workers, or replaces one.
    func transactionalProducer() async throws -> KafkaProducer {
        var configuration = ProducerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.transactionalID = transactionalID
        let producer = try KafkaProducer(loop: tools, configuration: configuration, log: log)
        try await producer.initTransactions()
        return producer
    }

    /// Reads all records of some topics as they arrive; ends when `isEnough`.
    func records(
        of topics: [String], within bound: Duration = .seconds(40), until isEnough: ([ConsumerRecord]) -> Bool
    ) async throws -> [ConsumerRecord] {
        let reader = try TopicReader(readerConfiguration, log: log)
        try await reader.open(topics, at: .beginning, within: .seconds(20))
        let end = Instant.now + bound
        var all: [ConsumerRecord] = []
        while !isEnough(all), Instant.now < end {
            all += try await reader.records(max: 500, within: .milliseconds(100))
        }
        return all
    }

    final class Silent: RebalanceListener {
        func assigned(_ partitions: [AssignedPartition]) async {}
        func revoked(_ partitions: [AssignedPartition]) async {}
        func lost(_ partitions: [AssignedPartition]) async {}
    }

    /// An answer of the provider with one invented shop.
    static let shop = """
        {"results":{"api_version":"1.30","results_available":1,"results_returned":"1","results_start":1,"shop":[
        {"id":"J000000001","name":"麺処 みほん","lat":"35.6900","lng":139.7001,"address":"","genre":{"name":"ラーメン"}}]}}
        """
}

extension WorkerConfiguration.Topics {
    /// The topics' names on that broker.
    init(on broker: TestBroker) {
        self.init()
        requests = broker.name("requests")
        results = broker.name("results")
        errors = broker.name("errors")
        deadLetters = broker.name("dead-letters")
    }
}

extension Result where Failure == any Error {
    /// Returns the result of `body`, to be checked after everything is shut down.
    static func of(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}

extension ConsumerRecord {
    /// Decodes the record as an outcome event.
    func outcome() throws -> OutcomeEvent {
        try OutcomeReader().read(value: value, headers: headers)
    }

    var keyText: String { String(decoding: key ?? [], as: UTF8.self) }
}
