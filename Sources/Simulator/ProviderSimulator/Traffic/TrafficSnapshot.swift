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
        /// The number of different requests; the key makes no difference.
        let distinct: Int
        /// The number of requests that an earlier one was equal to.
        let repeated: Int
        /// The number of requests that have a turn at present.
        let beingServed: Int
        /// The number of requests that wait for a turn.
        let waitingForTurn: Int
    }

    let elapsedMilliseconds: Int
    let total: Count
    let services: [Service]

    /// Adds up numbers of outcomes.
    static func sum(_ outcomes: some Sequence<[String: Int]>) -> [String: Int] {
        outcomes.reduce(into: [:]) { sum, part in sum.merge(part, uniquingKeysWith: +) }
    }
}
