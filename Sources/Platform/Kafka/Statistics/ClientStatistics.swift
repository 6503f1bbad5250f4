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
