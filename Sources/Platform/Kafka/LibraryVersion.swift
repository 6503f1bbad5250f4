/// A version of librdkafka, and the only table of version-dependent defaults.
public struct LibraryVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The version as `rd_kafka_version()` gives it, 0xMMmmrrpp.
    let number: Int32

    /// Makes a version from its three numbers, such as 2, 8 and 0.
    public init(_ major: Int32, _ minor: Int32, _ patch: Int32 = 0) {
        number = major << 24 | minor << 16 | patch << 8 | 0xff
    }

    /// - Parameter number: The version as `rd_kafka_version()` gives it.
    init(number: Int32) { self.number = number | 0xff }

    /// The three numbers separated by dots, such as `2.8.0`.
    public var description: String { "\(number >> 24).\(number >> 16 & 0xff).\(number >> 8 & 0xff)" }

    public static func < (a: LibraryVersion, b: LibraryVersion) -> Bool { a.number < b.number }

    /// The oldest librdkafka that works with all brokers. Older versions cannot parse Tansu's answers, and cannot log
    /// in to brokers that support only the newer version of `SaslHandshake`.
    static let oldestForAllBrokers = LibraryVersion(2, 2)
    /// The oldest librdkafka that can log in to Kafka 4 with SCRAM. Older versions send their part of the nonce twice,
    /// which older brokers do not check.
    static let oldestWithSCRAM = LibraryVersion(2, 6, 1)
    /// The first librdkafka in which a member of a cooperative group may commit during a rebalance. With older versions
    /// it loses all its partitions and joins again, so that a busy group may rebalance endlessly.
    static let firstWithCooperativeCommits = LibraryVersion(2, 10)
    /// The first librdkafka in which the `consumer` protocol is ready for production.
    static let firstWithNewProtocol = LibraryVersion(2, 12)
}

extension LibraryVersion {
    /// A default that depends on the version.
    struct Rule: Sendable {
        enum Client: Sendable { case consumer, producer, both }
        let client: Client
        let property: String
        /// Returns the value for a version; `nil` keeps the library's own default.
        let value: @Sendable (LibraryVersion) -> String?
        let reason: String
    }

    /// Every version-dependent default of this module, with its reason. User properties override all of them.
    static let rules: [Rule] = [
        Rule(
            client: .consumer, property: "partition.assignment.strategy",
            value: { $0 < .firstWithCooperativeCommits ? "range" : "cooperative-sticky" },
            reason: "before 2.10, a cooperative member that commits in a rebalance loses its partitions (#4059)"),
        Rule(
            client: .consumer, property: "fetch.queue.backoff.ms", value: { $0 < LibraryVersion(2, 2) ? nil : "5" },
            reason: "a full queue delays the next fetch by 1 s; settable from 2.2.0"),
        Rule(
            client: .consumer, property: "queued.min.messages", value: { $0 < LibraryVersion(2, 2) ? "2000" : "200" },
            reason: "prefetch per partition; below 2.2.0, also the approximate limit of its records a second"),
        Rule(
            client: .consumer, property: "queued.max.messages.kbytes",
            value: { $0 < LibraryVersion(2, 2) ? "1024" : "512" },
            reason: "limits the prefetch of each partition's queue; a worker may own hundreds of partitions"),
        Rule(
            client: .consumer, property: "fetch.message.max.bytes",
            value: { $0 < LibraryVersion(2, 2) ? nil : "65536" },
            reason: "a fetch, 1 MB by default, adds to the prefetch; below 2.2.0 a large fetch raises the rate"),
        Rule(
            client: .both, property: "enable.metrics.push", value: { $0 < LibraryVersion(2, 5) ? nil : "false" },
            reason: "client telemetry, on by default from 2.5.0, can crash the client before 2.5.3"),
    ]

    /// Returns the properties that the table defines for a client of this version.
    func defaults(for client: Rule.Client) -> [String: String] {
        var properties: [String: String] = [:]
        for rule in Self.rules where rule.client == client || rule.client == .both {
            if let value = rule.value(self) { properties[rule.property] = value }
        }
        return properties
    }
}
