import Basics
import EventContract
import EventLoop
import Foundation
import Kafka
import LocationSearch
import Logging
import ProviderSimulator
import QuotaSharing
import TestSupport
import Testing
import WorkerRuntime

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `locsearch worker` as a process, with a broker and all three providers in this process.
///
/// It is checked by its published records, by the providers' counts, and by its status, metrics and log.
struct WorkerHarness: Sendable {
    let worker: RunningProgram
    let broker: EmbeddedBroker
    /// The worker's environment, for further workers like it.
    let environment: [String: String]
    private let simulator: SimulatorServer
    private let tools: EventLoop
    private let sender: KafkaProducer
    private let reader: TopicReader
    private let simulatorURL: String
    private let adminURL: String

    /// Runs `body` in a separate harness and always shuts it down.
    /// - Parameter settings: environment variables, in addition to those of every harness.
    static func run(_ settings: [String: String] = [:], _ body: (WorkerHarness) async throws -> Void) async throws {
        let simulator = try await SimulatorServer.start(SimulatorConfiguration())
        let url = simulator.baseURL
        do {
            let topics = WorkerConfiguration.Topics()
            let broker = try EmbeddedBroker(topics: [
                topics.requests: 4, topics.results: 2, topics.errors: 2, topics.deadLetters: 1, topics.fleet: 1,
            ])
            broker.setGroupDelay(.milliseconds(200))
            let base = [
                "KAFKA_BOOTSTRAP_SERVERS": broker.bootstrapServers,
                "KAFKA_PROPERTIES": "session.timeout.ms=6000,fetch.wait.max.ms=10", "WORKER_COMMIT_INTERVAL": "100ms",
                "HOTPEPPER_BASE_URL": url, "GOOGLE_PLACES_BASE_URL": url, "GOOGLE_PLACES_LEGACY_BASE_URL": url,
                "HOTPEPPER_API_KEY": "secret-hotpepper", "GOOGLE_PLACES_API_KEY": "secret-google", "ADMIN_PORT": "0",
            ]
            let environment = base.merging(settings) { _, own in own }
            let worker = try RunningProgram(["worker"], environment: environment)
            defer { worker.end() }
            // A start takes a fraction of a second, but may be delayed on a busy machine.
            try await eventually("the worker tells its admin port", within: .seconds(60)) { worker.firstLine != nil }
            let harness = try await WorkerHarness(
                worker: worker, broker: broker, environment: environment, simulator: simulator, simulatorURL: url,
                adminURL: String(try #require(worker.firstLine).dropFirst("admin ".count)))
            defer { harness.tools.stop() }
            try await eventually("the worker is ready", within: .seconds(40)) {
                try await harness.get("/readyz").status == 200
            }
            try await body(harness)
            await harness.sender.close()
        } catch {
            await simulator.shutdown()
            throw error
        }
        await simulator.shutdown()
    }

    private init(
        worker: RunningProgram, broker: EmbeddedBroker, environment: [String: String], simulator: SimulatorServer,
        simulatorURL: String, adminURL: String
    ) async throws {
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        (self.worker, self.broker, self.simulator) = (worker, broker, simulator)
        self.environment = environment
        (self.simulatorURL, self.adminURL) = (simulatorURL, adminURL)
        tools = try EventLoop()
        sender = try KafkaProducer(
            loop: tools, configuration: ProducerConfiguration(bootstrapServers: broker.bootstrapServers), log: log)
        reader = try TopicReader(ConsumerConfiguration(bootstrapServers: broker.bootstrapServers), log: log)
        let topics = WorkerConfiguration.Topics()
        try await reader.open([topics.results, topics.errors], at: .beginning, within: .seconds(20))
    }

    // MARK: - Other writers

    /// Writes other workers' and operators' messages about budgets.
    func writeToFleetTopic(_ messages: [BudgetMessage], as codec: FleetCodec) async throws {
        var receipts: [KafkaProducer.Receipt] = []
        for message in messages {
            let record = ProducerRecord(
                topic: WorkerConfiguration.Topics().fleet, partition: 0, value: codec.bytes(of: .budget(message)))
            receipts.append(try await sender.handOver(record))
        }
        for receipt in receipts { _ = try await sender.confirm(receipt) }
    }

    // MARK: - Requests and outcomes

    /// A request in Shinjuku.
    /// - Parameter more: members of its JSON, each with a comma before it.
    static func request(_ id: String, _ provider: String, _ more: String = "") -> String {
        #"{"requestId":"\#(id)","provider":"\#(provider)","location":{"latitude":35.69,"longitude":139.7}\#(more)}"#
    }

    /// Returns requests that share no calls.
    static func requests(
        _ prefix: String, _ count: Int, _ provider: String = "hotpepper", _ more: String = ""
    ) -> [String] {
        (0..<count).map { request("\(prefix)\($0)", provider, #","keyword":"\#(prefix)\#($0)"\#(more)"#) }
    }

    /// Runs another command of `locsearch` with the settings of the worker.
    /// - Parameter refusal: runs it again, for a minute, if it refuses with these words. On a busy machine the worker may not
    ///   answer a command in time.
    /// - Returns: its output and its errors.
    func command(
        _ arguments: [String], _ settings: [String: String] = [:], code: Int32 = 0, againIf refusal: String? = nil
    ) async throws -> String {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let program = try RunningProgram(arguments, environment: environment.merging(settings) { $1 })
            defer { program.end() }
            try await eventually("the command ends", within: .seconds(30)) { !program.isRunning }
            if let refusal, program.error.contains(refusal), ContinuousClock.now < end { continue }
            #expect(program.code == code, "\(program.output)\(program.error)")
            return program.output + program.error
        }
    }

    /// - Parameter key: the same for all; `nil`: a separate key for each.
    /// - Parameter age: the age of the records, by their timestamps.
    func send(_ values: [String], key: String? = nil, age: Duration = .zero) async throws {
        let now = Date().timeIntervalSince1970 - age / .seconds(1)
        for (number, value) in values.enumerated() {
            try await sender.send(
                ProducerRecord(
                    topic: WorkerConfiguration.Topics().requests, key: Array((key ?? "key\(number)").utf8),
                    value: Array(value.utf8), timestamp: Int64(now * 1000)))
        }
    }

    /// Sends values without waiting between them, each under a separate key.
    func sendTogether(_ values: [String]) async throws {
        var receipts: [KafkaProducer.Receipt] = []
        for (number, value) in values.enumerated() {
            let record = ProducerRecord(
                topic: WorkerConfiguration.Topics().requests, key: Array("key\(number)".utf8), value: Array(value.utf8))
            receipts.append(try await sender.handOver(record))
        }
        for receipt in receipts { _ = try await sender.confirm(receipt) }
    }

    /// Returns the next outcomes, by request. A duplicate is an issue.
    /// - Parameter prefix: If set, only outcomes of requests whose ids begin with it are returned, and duplicates are
    ///   accepted. The embedded broker refuses commits while a group forms anew, so requests may be repeated.
    func outcomes(
        _ count: Int, of prefix: String? = nil, within bound: Duration = .seconds(40)
    ) async throws -> [String: OutcomeEvent] {
        var found: [String: OutcomeEvent] = [:]
        let end = Instant.now + bound
        while found.count < count {
            guard Instant.now < end else {
                throw NotInTime(description: "\(found.count) of \(count) outcomes; log:\n\(worker.error)")
            }
            for record in try await reader.records(max: count - found.count, within: .milliseconds(200)) {
                let event = try OutcomeReader().read(
                    value: record.value, headers: record.headers)
                guard event.requestID.hasPrefix(prefix ?? "") else { continue }
                let isFirst = found.updateValue(event, forKey: event.requestID) == nil
                #expect(isFirst || prefix != nil, "\(event.requestID) came twice")
            }
        }
        return found
    }

    // MARK: - The providers

    /// Sends `POST /_sim/config`.
    func configureProviders(_ json: String) async throws {
        #expect(try await call(simulatorURL + "/_sim/config", body: json).status == 200)
    }

    /// Returns a provider's count: `requests`, `aborted`, `inFlight` and so on.
    /// - Parameter provider: the provider's name in requests; `nil`: all of them.
    func count(_ name: String, of provider: String? = nil) async throws -> Int? {
        let stats = try json(try await call(simulatorURL + "/_sim/stats").body)
        guard let provider else { return stats[name] as? Int }
        return ((stats["apis"] as? [String: Any])?[provider] as? [String: Any])?[name] as? Int
    }

    func calls(to provider: String? = nil) async throws -> Int? { try await count("requests", of: provider) }

    // MARK: - The worker's reports

    /// Returns a provider's entry in `/status`.
    func status(of provider: String) async throws -> [String: Any] {
        let providers = try json(try await get("/status").body)["providers"] as? [[String: Any]]
        return providers?.first { $0["provider"] as? String == provider } ?? [:]
    }

    /// Returns a member of `/status`; `nil` if it is missing, or of another type.
    func status<Value>(_ member: String, as type: Value.Type) async throws -> Value? {
        try json(try await get("/status").body)[member] as? Value
    }

    /// Returns the value of a line of `/metrics`, by its name with labels; 0 if there is none.
    func metric(_ name: String) async throws -> Double {
        let line = try await get("/metrics").body.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line.flatMap { Double($0.dropFirst(name.count + 1)) } ?? 0
    }

    /// Returns the number of log lines that contain all these texts.
    func logLines(with texts: String...) -> Int { logLines(withAll: texts) }

    /// Waits until a log line contains all these texts, and returns the number of such lines.
    ///
    /// Log lines arrive through a pipe, and so later than an outcome or a metric.
    func awaitedLogLines(with texts: String...) async throws -> Int {
        try await eventually("a line of the log with \(texts)") { logLines(withAll: texts) > 0 }
        return logLines(withAll: texts)
    }

    private func logLines(withAll texts: [String]) -> Int {
        worker.error.split(separator: "\n").count { line in texts.allSatisfy { line.contains($0) } }
    }

    func get(_ path: String) async throws -> (status: Int, body: String) { try await call(adminURL + path) }

    /// Returns how many answers of each SKU the providers have billed.
    func billedSKUs() async throws -> [String: Int] {
        try json(try await call(simulatorURL + "/_sim/stats").body)["skus"] as? [String: Int] ?? [:]
    }

    /// The port of the worker's admin endpoints.
    var adminPort: Int { adminURL.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

    private func call(_ url: String, body: String? = nil) async throws -> (status: Int, body: String) {
        var request = URLRequest(url: try #require(URL(string: url)))
        if let body {
            request.httpMethod = "POST"
            request.httpBody = Data(body.utf8)
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }
}

extension OutcomeEvent {
    /// `nil` for a failure.
    var result: SearchOutcome.Result? { if case .completed(let result) = body { result } else { nil } }
    /// The ids of the places; `nil` for a failure.
    var places: [String]? { result?.places.map(\.id) }
    var attributions: [String] { result?.attributions ?? [] }
    /// `nil` for a result.
    var failure: Failure? { if case .failed(let failure) = body { failure } else { nil } }
    var code: String? { failure?.code }
    var retryAfter: Duration? { failure?.retryAfter }
}
