/// How the provider simulator listens, whom it lets in, and what it does to requests by default.
package struct SimulatorConfiguration: Sendable {
    /// The address to listen on.
    package var host = "127.0.0.1"
    /// 0: any free port.
    package var port = 0
    /// The simulated world: the same seed has the same places, ids and photos. Any number.
    package var seed: UInt64 = 1
    /// Event loops, 1...64; one serves more than 10,000 requests a second.
    package var threads = 1
    /// The only key that is let in. `nil`: every key but the empty one and those that begin with `wrong`, `denied` or
    /// `legacy-off`, which get the errors of a wrong key, a key not allowed, and one without the legacy API.
    package var apiKey: String?
    /// Hot Pepper as of 2015 and Google as of 2019: numbers as strings, `\/`, obsolete members, no `business_status`.
    package var oldVersions = false
    /// Answer with gzip whoever accepts it. The data are stored, not compressed: it exercises a client's decoder.
    package var gzip = false
    /// How long a page token of Google's legacy API is not valid yet. Google takes about 2 s.
    package var pageTokenDelay: Duration = .seconds(2)
    /// Memory for rendered places, all threads together.
    package var cacheBytes = 96 << 20
    /// A larger request body is answered with 413, a longer URI (than 16 KB) with 414.
    package var maxRequestBytes = 1 << 20
    /// Requests that `GET /_sim/log` can show, 0...100,000.
    package var logCapacity = 1000
    /// Latency, faults, capacity and quota of every API, until `POST /_sim/config` changes them.
    package var profile = TrafficProfile()

    package init() {}

    /// - Throws: `SimulatorError.invalidConfiguration` that names the member.
    func validated() throws(SimulatorError) -> SimulatorConfiguration {
        try check((0...65_535).contains(port), "port", "0...65535")
        try check((1...64).contains(threads), "threads", "1...64")
        try check(apiKey != "", "apiKey", "at least one character")
        try check(pageTokenDelay >= .zero && pageTokenDelay <= .seconds(3600), "pageTokenDelay", "0...1 h")
        try check((1 << 10...1 << 30).contains(maxRequestBytes), "maxRequestBytes", "1 KB...1 GB")
        try check((0...100_000).contains(logCapacity), "logCapacity", "0...100000")
        try profile.validate()
        return self
    }
}

/// What an API does to its requests. Each API has its own; they can change while the simulator runs.
package struct TrafficProfile: Sendable, Hashable {
    /// Time until an answer begins.
    package var latency = LatencyDistribution.fixed(.zero)
    /// The share of requests (0...1) that end in a fault, by its spelling in `FaultTable`: `["503": 0.01]`. At most 1 in
    /// all.
    package var faults: [String: Double] = [:]
    /// How many requests are served at a time; the others wait their turn. `nil`: all.
    package var capacity: Capacity?
    /// Requests per second for each key. `nil`: any number.
    package var quota: Quota?

    package init() {}

    package struct Capacity: Sendable, Hashable {
        /// Served at a time, at least 1.
        package var concurrent: Int
        /// Requests that may wait; more get HTTP 503. At least 0.
        package var queue = 10_000
        /// Spend a turn on requests whose client has gone away, as most servers do.
        package var servesAbandoned = true

        package init(concurrent: Int) { self.concurrent = concurrent }
    }

    package struct Quota: Sendable, Hashable {
        /// Above 0.
        package var requestsPerSecond: Double
        /// Requests at once after a pause, at least 1.
        package var burst: Int
        /// Say so many seconds: `RetryInfo` (new) or `Retry-After` (the others). `nil`: say nothing, as the real ones.
        package var retryAfter: Int?

        /// - Parameter burst: `nil`: one second's worth.
        package init(requestsPerSecond: Double, burst: Int? = nil, retryAfter: Int? = nil) {
            self.requestsPerSecond = requestsPerSecond
            self.burst = burst ?? max(1, Int(min(requestsPerSecond, 1e9).rounded(.up)))
            self.retryAfter = retryAfter
        }
    }

    func validate() throws(SimulatorError) {
        var sum = 0.0
        for (spelling, share) in faults {
            try check(Fault(spelling) != nil, "faults", "a spelling of the fault table, not \"\(spelling.prefix(40))\"")
            try check((0...1).contains(share), "faults", "shares of 0...1")
            sum += share
        }
        try check(sum <= 1.000_001, "faults", "at most 1 in all")
        if let capacity {
            try check((1...1_000_000).contains(capacity.concurrent), "capacity.concurrent", "1...1000000")
            try check((0...1_000_000).contains(capacity.queue), "capacity.queue", "0...1000000")
        }
        if let quota {
            let rate = quota.requestsPerSecond
            try check(rate > 0 && rate <= 1e9, "quota.requestsPerSecond", "above 0, up to 1e9")
            try check((1...1_000_000_000).contains(quota.burst), "quota.burst", "1...1000000000")
            try check((0...86_400).contains(quota.retryAfter ?? 0), "quota.retryAfter", "0...86400 s")
        }
    }

    /// Reads `503:0.05,reset:0.01` as shares by spelling.
    /// - Returns: `nil` when it is none of that.
    package static func faults(_ text: String) -> [String: Double]? {
        var faults: [String: Double] = [:]
        for part in text.split(separator: ",") {
            guard let colon = part.lastIndex(of: ":"), let share = Double(part[part.index(after: colon)...]) else {
                return nil
            }
            faults[String(part[..<colon])] = share
        }
        return faults
    }
}

/// Why the simulator does not start, or does not take a change.
package enum SimulatorError: Error, Hashable, CustomStringConvertible {
    /// The member, and what it should be.
    case invalidConfiguration(member: String, expected: String)
    /// `start()` was called twice, or after `shutdown()`.
    case startedTwice

    package var description: String {
        switch self {
        case .invalidConfiguration(let member, let expected): "\(member): expected \(expected)"
        case .startedTwice: "the simulator was started before"
        }
    }
}

private func check(_ holds: Bool, _ member: String, _ expected: String) throws(SimulatorError) {
    if !holds { throw .invalidConfiguration(member: member, expected: expected) }
}
