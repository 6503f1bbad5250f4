internal import Basics
internal import JSON

/// The statistics of a librdkafka client at the end of its last statistics interval.
public struct ClientStatistics: Sendable, Hashable {
    /// One broker that the client has a connection to.
    public struct Broker: Sendable, Hashable {
        /// The broker's node id.
        public var id: Int
        /// The 99th percentile of the interval's round trips; zero if there were none.
        public var slowRoundTrip = Duration.zero
        /// The longest time for which the broker throttled the client in the interval.
        public var throttle = Duration.zero

        /// Makes the statistics of a broker without requests.
        public init(id: Int) { self.id = id }
    }

    /// The connected brokers, ordered by id. Brokers without a connection are left out, so that a large cluster shows
    /// only those that this client uses.
    public var brokers: [Broker] = []
    /// The number of records that were fetched and not yet read. Zero for a producer.
    public var fetchedRecords = 0

    /// Makes empty statistics.
    public init() {}
}

/// Parses librdkafka's JSON statistics (its STATISTICS.md).
extension ClientStatistics {
    /// - Throws: An error if the text is not JSON. Missing values, or values of unknown form, count as zero.
    init(json: Span<UInt8>) throws(JSONError) {
        self.init()
        var reader = JSONReader(json)
        guard try reader.enterObject() else { return }

        while let key = try reader.nextKey() {
            switch key {
            case "brokers": try Self.eachMember(of: &reader) { reader throws(JSONError) in try readBroker(&reader) }
            case "topics": try Self.eachMember(of: &reader) { reader throws(JSONError) in try readTopic(&reader) }
            default: try reader.skip()
            }
        }
        try reader.finish()
        brokers.sort { $0.id < $1.id }
    }

    /// Calls `body` for the value of each member, which it must read. Member names are skipped, because the values
    /// repeat them.
    private static func eachMember(
        of reader: inout JSONReader, body: (inout JSONReader) throws(JSONError) -> Void
    ) throws(JSONError) {
        guard try reader.enterObject() else { return }
        while try reader.nextKey() != nil { try body(&reader) }
    }

    private mutating func readBroker(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterObject() else { return }
        var (broker, isUp) = (Broker(id: -1), false)
        while let key = try reader.nextKey() {
            switch key {
            case "nodeid": broker.id = try reader.int() ?? -1
            case "state": isUp = try reader.string() == "UP"
            case "rtt": broker.slowRoundTrip = .microseconds(try Self.window(&reader).high)
            case "throttle": broker.throttle = .milliseconds(try Self.window(&reader).most)
            default: try reader.skip()
            }
        }

        // Bootstrap addresses and the group's coordinator have no node id.
        if broker.id >= 0, isUp { brokers.append(broker) }
    }

    /// Reads a number from 0 to 2^48 (281 TB, or nine years in microseconds). The sum over 30,000 brokers cannot
    /// overflow.
    private static func count(_ reader: inout JSONReader) throws(JSONError) -> Int {
        min(max(0, try reader.int() ?? 0), 1 << 48)
    }

    /// The 99th percentile and maximum of one value over the interval.
    private static func window(_ reader: inout JSONReader) throws(JSONError) -> (high: Int, most: Int) {
        var (high, most) = (0, 0)
        guard try reader.enterObject() else { return (0, 0) }
        while let key = try reader.nextKey() {
            switch key {
            case "p99": high = try count(&reader)
            case "max": most = try count(&reader)
            default: try reader.skip()
            }
        }
        return (high, most)
    }

    private mutating func readTopic(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterObject() else { return }
        while let key = try reader.nextKey() {
            switch key {
            case "partitions":
                try Self.eachMember(of: &reader) { reader throws(JSONError) in try readPartition(&reader) }
            default: try reader.skip()
            }
        }
    }

    private mutating func readPartition(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterObject() else { return }
        while let key = try reader.nextKey() {
            switch key {
            case "fetchq_cnt": fetchedRecords = fetchedRecords.saturatingAdding(try Self.count(&reader))
            default: try reader.skip()
            }
        }
    }
}
