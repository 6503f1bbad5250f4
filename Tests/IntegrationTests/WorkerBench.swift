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
    let broker: EmbeddedBroker
    let provider: LoopbackHTTPServer
    let tools: EventLoop
    let sender: KafkaProducer
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The mock group coordinator's joins hang below a session of about 3 s.
    static let properties = ["session.timeout.ms": "6000", "fetch.wait.max.ms": "10"]

    init(answer: @escaping @Sendable (String) -> LoopbackHTTPServer.Answer) throws {
        let topics = WorkerConfiguration.Topics()
        broker = try EmbeddedBroker(topics: [
            topics.requests: 4, topics.results: 4, topics.errors: 4, topics.deadLetters: 1,
        ])
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

    /// A lane of a worker on a loop of its own, with Hot Pepper at our provider.
    func lane(
        on loop: EventLoop, key: String = "secret-key", _ change: (inout WorkerConfiguration) -> Void = { _ in }
    ) throws -> WorkerLane {
        var configuration = WorkerConfiguration()
        configuration.commitInterval = .milliseconds(100)
        change(&configuration)
        var consumer = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        consumer.properties = Self.properties
        let services: [any PlaceService] = [
            HotpepperService(
                http: HTTPTransport(loop: loop),
                configuration: ProviderConfiguration(baseURL: provider.baseURL, apiKey: key))
        ]
        var producer = ProducerConfiguration(bootstrapServers: broker.bootstrapServers)
        if configuration.delivery == .exactlyOnce { producer.transactionalID = "lane-\(ObjectIdentifier(loop))" }
        return WorkerLane(
            loop: loop, configuration: configuration,
            consumer: try KafkaConsumer(loop: loop, configuration: consumer, log: log),
            producer: try KafkaProducer(loop: loop, configuration: producer, log: log),
            interactor: SearchInteractor(
                selection: ProviderSelection(services: services), worker: SearchWorker(executor: loop)),
            meters: WorkerMeters(), log: log)
    }

    /// Sends request values, each under its own key.
    func send(_ values: [(key: String, value: String)]) async throws {
        for (key, value) in values {
            try await sender.send(
                ProducerRecord(
                    topic: WorkerConfiguration.Topics().requests, key: Array(key.utf8), value: Array(value.utf8)))
        }
    }

    /// Everything on some topics, as it arrives; ends when `isEnough`.
    func records(
        of topics: [String], within bound: Duration = .seconds(40), until isEnough: ([ConsumerRecord]) -> Bool
    ) async throws -> [ConsumerRecord] {
        var configuration = ConsumerConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.groupID = "reader-\(UInt64.random(in: .min ... .max))"
        configuration.properties = Self.properties
        let reader = try KafkaConsumer(loop: tools, configuration: configuration, log: log)
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

    private final class Silent: RebalanceListener {
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
