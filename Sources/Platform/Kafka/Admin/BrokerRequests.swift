internal import Synchronization

/// The request kinds that the brokers support, by Kafka's API key, with their versions.
package struct BrokerRequests: Sendable, Hashable {
    /// Kafka's API keys of the requests that this module checks.
    package enum Kind: Int16, Sendable {
        case fetch = 1
        case saslHandshake = 17
        case initProducerID = 22
        case addPartitionsToTransaction = 24
        case addOffsetsToTransaction = 25
        case endTransaction = 26
        case transactionOffsetCommit = 28
        case consumerGroupHeartbeat = 68
    }

    /// The supported versions of each request.
    package var versions: [Int16: ClosedRange<Int16>]

    package init(_ versions: [Int16: ClosedRange<Int16>]) { self.versions = versions }

    package subscript(_ kind: Kind) -> ClosedRange<Int16>? { versions[kind.rawValue] }

    /// True for brokers that dropped the oldest request versions, as Apache Kafka 4.0 did.
    package var isOfKafka4: Bool { (self[.fetch]?.lowerBound ?? 0) >= 4 }

    /// The version of Apache Kafka that supports similar requests. Brokers do not report their own version.
    package var likeness: String {
        guard let fetch = self[.fetch] else { return "an unknown version of Kafka" }
        if isOfKafka4 { return "Kafka 4.0 or newer" }

        return switch fetch.upperBound {
        case 17...: "Kafka 3.9"
        case 16: "Kafka 3.7 or 3.8"
        case 15: "Kafka 3.5 or 3.6"
        case 13, 14: "Kafka 3.1 to 3.4"
        case 12: "Kafka 2.7 to 3.0"
        case 11: "Kafka 2.3 to 2.6"
        default: "Kafka 2.2 or older"
        }
    }
}

/// Extracts the brokers' request versions from librdkafka's log, the only place where the library reports them. Safe to
/// use from any thread.
package final class BrokerRequestLog: Sendable {
    private let found = Mutex<[Int16: ClosedRange<Int16>]>([:])

    package init() {}

    /// The requests reported so far; `nil` while no broker has reported any.
    package var requests: BrokerRequests? {
        let found = found.withLock { $0 }
        return found.isEmpty ? nil : BrokerRequests(found)
    }

    /// Records a line such as `kafka:9092/1: ApiKey Fetch (1) Versions 0..11`; ignores lines of any other form. If
    /// brokers differ, keeps the versions that all of them support.
    func note(line: String) {
        guard let entry = Self.parse(line) else { return }
        found.withLock { found in
            guard let other = found[entry.kind] else { return found[entry.kind] = entry.versions }
            let low = max(other.lowerBound, entry.versions.lowerBound)
            let high = min(other.upperBound, entry.versions.upperBound)
            if low <= high { found[entry.kind] = low...high }  // bounded: compared just now
        }
    }

    static func parse(_ line: String) -> (kind: Int16, versions: ClosedRange<Int16>)? {
        guard let name = line.firstRange(of: "ApiKey ") else { return nil }
        let rest = line[name.upperBound...]
        guard let end = rest.firstRange(of: ") Versions ") else { return nil }
        // The name of the request comes first: `Fetch (1`.
        guard let number = rest[..<end.lowerBound].split(separator: "(").last, let kind = Int16(number, radix: 10)
        else { return nil }

        // bounded: a text that is no number, or too large, gives nil
        let bounds = rest[end.upperBound...].split(separator: "..", maxSplits: 1).map { Int16($0, radix: 10) }
        guard bounds.count == 2, let low = bounds[0], let high = bounds[1], low <= high else { return nil }
        return (kind, low...high)  // bounded: compared just now
    }
}
