/// The counters at one moment.
struct TrafficSnapshot {
    struct Count {
        let meter: Meter
        let outcomes: [String: Int]
    }

    struct Service {
        let api: ProviderAPI
        let count: Count
        let methods: [(name: String, count: Count)]
        /// The number of distinct requests, ignoring the key.
        let distinct: Int
        /// The number of requests that were equal to an earlier one.
        let repeated: Int
        /// The number of requests that hold a permit.
        let beingServed: Int
        /// The number of requests that wait for a permit.
        let waitingForTurn: Int
    }

    let elapsedMilliseconds: Int
    let total: Count
    let services: [Service]

    /// Adds up the counts of outcomes.
    static func sum(_ outcomes: some Sequence<[String: Int]>) -> [String: Int] {
        outcomes.reduce(into: [:]) { sum, part in sum.merge(part, uniquingKeysWith: +) }
    }
}
