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

/// A broker, a provider and everything to send requests and see outcomes: real TCP, in this process.
struct WorkerFixture: Sendable {
    let broker: TestBroker
    let topics: WorkerConfiguration.Topics
    let provider: LoopbackHTTPServer
    let tools: EventLoop
    let sender: KafkaProducer
    static let key = "secret-key"
    var outcomeTopics: [String] { [topics.results, topics.errors] }
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The embedded coordinator's joins hang below a session of about 3 s, others take 6 s or more; some form their groups
    /// with the members' heartbeats.
    static let properties = ["session.timeout.ms": "6000", "heartbeat.interval.ms": "500", "fetch.wait.max.ms": "10"]

    /// What this fixture's consumers run with.
    private let properties: [String: String]
    private let assignor: String?

    /// - Parameter answer: of the provider, from the request's target.
    /// - Parameter session: in ms; the embedded coordinator's rebalances take as long, less a second.
    /// - Parameter assignor: `nil`: what suits the library.
    init(
        session: Int = 6000, assignor: String? = nil,
        answer: @escaping @Sendable (String) -> LoopbackHTTPServer.Answer = { _ in .init(body: WorkerFixture.shop) }
    ) throws {
        let broker = try TestBroker(topics: ["requests": 4, "results": 4, "errors": 4, "dead-letters": 1])
        self.broker = broker
        properties = Self.properties.merging(["session.timeout.ms": "\(session)"]) { _, own in own }
        self.assignor = assignor
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

    /// That of every lane: one that starts fences the one before it.
    var transactionalID: String { broker.name("lane") }

    /// Runs a worker beside `body`, then drains it, whatever became of `body`. Only then its loop stops: jobs of a loop
    /// that has stopped never run, and who waits for them waits for good.
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
        // What went wrong first: a test whose worker has failed waits in vain.
        if case .failure(let error) = end { throw error }
        return try result.get()
    }

    /// A lane of a worker on a loop of its own, with all three providers at `baseURL`, ours if not given.
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
        consumer.assignor = assignor
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
        return WorkerLane(
            loop: loop, configuration: configuration,
            source: try KafkaConsumer(loop: loop, configuration: consumer, log: log),
            sink: try makeProducer(),
            makeSink: makeProducer,
            interactor: SearchInteractor(
                selection: ProviderSelection(services: services),
                worker: SearchWorker(
                    executor: loop,
                    policies: policy.map { policy in
                        Dictionary(uniqueKeysWithValues: ProviderID.allCases.map { ($0, policy) })
                    } ?? [:], clock: LoopClock(loop), random: loop.random)),
            departure: departure, meters: WorkerMeters(topics: configuration.topics), log: log)
    }

    /// Runs one worker until as many outcomes are there as expected, then drains it.
    func run(
        expecting count: Int, _ change: (inout WorkerConfiguration) -> Void = { _ in }
    ) async throws -> [ConsumerRecord] {
        try await whileWorking(change) { _ in try await outcomes { $0.count >= count } }
    }

    /// Runs one worker until each of some requests has an outcome, then drains it: for tests where outcomes may be there
    /// more than once, so that their number says nothing.
    func run(
        untilDone ids: [String], _ change: (inout WorkerConfiguration) -> Void = { _ in }
    ) async throws -> [ConsumerRecord] {
        try await whileWorking(change) { _ in
            try await outcomes { records in
                Set(records.compactMap { try? $0.outcome().requestID }).isSuperset(of: ids)
            }
        }
    }

    /// Results and errors from the first one on; ends when `isEnough`.
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

    func send(_ key: String, _ value: [UInt8]?, headers: [KafkaHeader] = []) async throws {
        try await sender.send(
            ProducerRecord(
                topic: topics.requests, key: Array(key.utf8), value: value, headers: headers))
    }

    /// Waits until a worker has committed the offset behind the last request: all have their outcomes then, and none
    /// is done again by whoever comes next.
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

    /// Everything that stands in some topics now.
    func contents(of topics: [String], atLeast known: Int? = nil) async throws -> [ConsumerRecord] {
        try await TopicReader(readerConfiguration, log: log).contents(of: topics, atLeast: known)
    }

    private var readerConfiguration: ConsumerConfiguration {
        var configuration = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.properties = properties
        return configuration
    }

    /// A consumer beside the workers.
    func member(of group: String) throws -> KafkaConsumer {
        var configuration = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.groupID = group
        configuration.properties = properties
        configuration.assignor = assignor
        return try KafkaConsumer(loop: tools, configuration: configuration, log: log)
    }

    /// A transactional producer beside the workers, or in the place of one.
    func transactionalProducer() async throws -> KafkaProducer {
        var configuration = ProducerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.transactionalID = transactionalID
        let producer = try KafkaProducer(loop: tools, configuration: configuration, log: log)
        try await producer.initTransactions()
        return producer
    }

    /// Everything on some topics, as it arrives; ends when `isEnough`.
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
    /// As they are called there.
    init(on broker: TestBroker) {
        self.init()
        requests = broker.name("requests")
        results = broker.name("results")
        errors = broker.name("errors")
        deadLetters = broker.name("dead-letters")
    }
}

extension Result where Failure == any Error {
    /// What became of `body`, to be looked at once everything is put away.
    static func of(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}

extension ConsumerRecord {
    /// As an outcome event.
    func outcome() throws -> OutcomeEvent {
        try OutcomeReader().read(value: value, headers: headers)
    }

    var keyText: String { String(decoding: key ?? [], as: UTF8.self) }
}
