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
        /// Different requests, as told by everything but the key.
        let distinct: Int
        /// Requests that had come before.
        let repeated: Int
        /// Of those that the capacity is for.
        let beingServed: Int
        let waitingForTurn: Int
    }

    let elapsedMilliseconds: Int
    let total: Count
    let services: [Service]

    static func sum(_ outcomes: some Sequence<[String: Int]>) -> [String: Int] {
        outcomes.reduce(into: [:]) { sum, part in sum.merge(part, uniquingKeysWith: +) }
    }
}
