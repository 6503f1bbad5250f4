internal import EventContract
internal import Kafka

/// Determines the flow of a request: its class by its topic and its own choice, its tenant by `worker.fairBy`.
struct FlowRule {
    /// Longer tenant names are truncated, so that the memory of waiting requests is bounded by the size of their
    /// records. In bytes.
    private static let longestTenant = 128

    private let topics: [String: RequestTopic]
    private let fairBy: WorkerConfiguration.FairBy

    init(_ configuration: WorkerConfiguration) {
        let named = configuration.topics.requestTopics.map { ($0.name, $0) }
        topics = Dictionary(named, uniquingKeysWith: { first, _ in first })
        fairBy = configuration.flows.fairBy
    }

    /// Returns whether requests of a topic may choose their class.
    func choosesClass(in topic: String) -> Bool { (topics[topic]?.classes.count ?? 1) > 1 }

    /// Returns the class of a topic's requests that do not choose one.
    func standardClass(of topic: String) -> RequestClass { topics[topic]?.standardClass ?? .interactive }

    func flow(of record: ConsumerRecord, _ decoded: DecodedRequest) -> Flow {
        Flow(requestClass(of: record, decoded), tenant: tenant(of: record, decoded))
    }

    private func requestClass(of record: ConsumerRecord, _ decoded: DecodedRequest) -> RequestClass {
        guard let topic = topics[record.partition.id.topic] else { return .interactive }
        guard case .known(let requested) = decoded.requestedClass, topic.classes.contains(requested) else {
            return topic.standardClass
        }
        return requested
    }

    /// Returns the class that a request asks for although its topic does not let it choose; `nil` if there is none.
    func ignoredClass(of record: ConsumerRecord, _ decoded: DecodedRequest) -> String? {
        guard !choosesClass(in: record.partition.id.topic) else { return nil }
        return switch decoded.requestedClass {
        case .none: nil
        case .known(let asked): asked == standardClass(of: record.partition.id.topic) ? nil : asked.rawValue
        case .unknown: "unknown"
        }
    }

    private func tenant(of record: ConsumerRecord, _ decoded: DecodedRequest) -> String {
        let bytes: [UInt8]? =
            switch fairBy {
            case .none: nil
            case .source: decoded.eventSource
            case .key: record.key
            case .header(let name): record.headers.last { $0.name == name }?.value
            }
        guard let bytes else { return "" }
        return String(decoding: bytes.prefix(Self.longestTenant), as: UTF8.self)
    }
}
