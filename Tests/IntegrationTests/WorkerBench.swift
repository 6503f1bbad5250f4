import EventContract
import EventLoop
import HTTPTransport
import Kafka
import LocationSearch
import Logging
import PlaceProviders
import Resilience
import TestSupport
import WorkerRuntime

/// A broker, a provider and everything to send requests and see outcomes: real TCP, in this process.
struct WorkerBench: Sendable {
    let broker: TestBroker
    let topics: WorkerConfiguration.Topics
    let provider: LoopbackHTTPServer
    let tools: EventLoop
    let sender: KafkaProducer
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The embedded coordinator's joins hang below a session of about 3 s, others take 6 s or more; some form their groups
    /// with the members' heartbeats.
    static let properties = ["session.timeout.ms": "6000", "heartbeat.interval.ms": "500", "fetch.wait.max.ms": "10"]

    init(answer: @escaping @Sendable (String) -> LoopbackHTTPServer.Answer) throws {
        let broker = try TestBroker(topics: ["requests": 4, "results": 4, "errors": 4, "dead-letters": 1])
        self.broker = broker
        topics = WorkerConfiguration.Topics(on: broker)
        provider = try LoopbackHTTPServer(answer: answer)
        tools = try EventLoop()
        sender = try KafkaProducer(
            loop: tools, configuration: ProducerConfiguration(bootstrapServers: broker.bootstrapServers), log: log)
    }

    func stop() async {
        await sender.close()
        provider.stop()
        tools.stop()
    }

    /// That of every lane: one that starts fences the one before it.
    var transactionalID: String { broker.name("lane") }

    /// A lane of a worker on a loop of its own, with Hot Pepper at our provider.
    func lane(
        on loop: EventLoop, key: String = "secret-key", _ change: (inout WorkerConfiguration) -> Void = { _ in }
    ) throws -> WorkerLane {
        var configuration = WorkerConfiguration()
        configuration.topics = topics
        configuration.commitInterval = .milliseconds(100)
        change(&configuration)
        var consumer = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        consumer.groupID = broker.name("workers")
        consumer.properties = Self.properties
        let services: [any PlaceService] = [
            HotpepperService(
                http: HTTPTransport(loop: loop),
                configuration: ProviderConfiguration(baseURL: provider.baseURL, apiKey: key))
        ]
        var producer = ProducerConfiguration(bootstrapServers: broker.bootstrapServers)
        if configuration.delivery == .exactlyOnce {
            producer.transactionalID = transactionalID
        }
        return WorkerLane(
            loop: loop, configuration: configuration,
            consumer: try KafkaConsumer(loop: loop, configuration: consumer, log: log),
            producer: try KafkaProducer(loop: loop, configuration: producer, log: log),
            interactor: SearchInteractor(
                selection: ProviderSelection(services: services), worker: SearchWorker(executor: loop)),
            meters: WorkerMeters(), log: log)
    }

    /// Runs one worker until as many outcomes are there as expected, then drains it.
    func run(
        expecting count: Int, _ change: (inout WorkerConfiguration) -> Void = { _ in }
    ) async throws -> [ConsumerRecord] {
        let loop = try EventLoop()
        defer { loop.stop() }
        let lane = try lane(on: loop, change)
        async let working: Void = lane.run()
        let records = try await outcomes { $0.count >= count }
        await lane.drain()
        try await working
        return records
    }

    /// Results and errors from the first one on; ends when `isEnough`.
    func outcomes(until isEnough: ([ConsumerRecord]) -> Bool) async throws -> [ConsumerRecord] {
        try await records(of: [topics.results, topics.errors], until: isEnough)
    }

    func outcome(_ record: ConsumerRecord) throws -> OutcomeEvent {
        try OutcomeReader().read(value: record.value, headers: record.headers.map { EventHeader($0.name, $0.value) })
    }

    /// - Parameter more: further members, each after a comma.
    static func request(_ id: String, _ more: String = "") -> String {
        #"{"requestId":"\#(id)","provider":"hotpepper","location":{"latitude":35.69,"longitude":139.7}\#(more)}"#
    }

    /// Sends request values, each under its own key.
    func send(_ values: [(key: String, value: String)]) async throws {
        for (key, value) in values {
            try await sender.send(
                ProducerRecord(topic: topics.requests, key: Array(key.utf8), value: Array(value.utf8)))
        }
    }

    /// A consumer beside the workers.
    func member(of group: String) throws -> KafkaConsumer {
        var configuration = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.groupID = group
        configuration.properties = Self.properties
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
        let reader = try member(of: "reader-\(UInt64.random(in: .min ... .max))")
        let listener = Silent()
        try await reader.subscribe(to: topics, listener: listener)
        let timeout = Task {
            try await Task.sleep(for: bound)
            await reader.stopReading()
        }
        var all: [ConsumerRecord] = []
        while !isEnough(all) {
            let more = try await reader.records(max: 500)
            if more.isEmpty { break }
            all += more
        }
        timeout.cancel()
        await reader.close()
        withExtendedLifetime(listener) {}
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
