internal import Basics

/// Options of the provider simulator: where it listens, which keys it lets in, and what it does to requests by default.
package struct SimulatorConfiguration: Sendable {
    /// The address to listen on.
    package var host = "127.0.0.1"
    /// The port to listen on, 0...65535. 0 takes any free one.
    package var port = 0
    /// The seed of the simulated world. The same seed gives the same places, ids and photos.
    package var seed: UInt64 = 1
    /// The number of event loops, 1...64. One serves more than 10,000 requests a second.
    package var threads = 1
    /// The only key that is let in. `nil` lets in every key but the empty one and those that begin with `wrong`, `denied` or
    /// `legacy-off`, which get the errors of a wrong key, of a key that is not allowed, and of one without the legacy API.
    package var apiKey: String?
    /// True for the shapes of Hot Pepper's answers in 2015 and Google's in 2019: numbers as strings, `\/`, obsolete members, no
    /// `business_status`.
    package var oldVersions = false
    /// True to answer with gzip where the client accepts it. The data are stored and not compressed, which exercises the
    /// client's decoder all the same.
    package var gzip = false
    /// The time until a page token of Google's older API becomes valid, up to 1 h. Google takes about 2 s.
    package var pageTokenDelay: Duration = .seconds(2)
    /// The memory for rendered places in bytes, for all threads together.
    package var cacheBytes = 96 << 20
    /// The size of the largest request body in bytes, 1 KB to 1 GB. A larger one is answered with 413, and a URI longer than
    /// 16 KB with 414.
    package var maxRequestBytes = 1 << 20
    /// The number of requests that `GET /_sim/log` can show, 0...100,000.
    package var logCapacity = 1000
    /// The latency, faults, capacity and quota of every API, until `POST /_sim/config` changes them.
    package var profile = TrafficProfile()

    /// Makes the defaults.
    package init() {}

    /// Returns the configuration if it is valid.
    /// - Throws: `SimulatorError.invalidConfiguration`, which names the member.
    func validated() throws(SimulatorError) -> SimulatorConfiguration {
        try check((0...65_535).contains(port), member: "port", expected: "0...65535")
        try check((1...64).contains(threads), member: "threads", expected: "1...64")
        try check(apiKey != "", member: "apiKey", expected: "at least one character")
        try check(
            pageTokenDelay >= .zero && pageTokenDelay <= .seconds(3600), member: "pageTokenDelay", expected: "0...1 h")
        try check((1 << 10...1 << 30).contains(maxRequestBytes), member: "maxRequestBytes", expected: "1 KB...1 GB")
        try check((0...100_000).contains(logCapacity), member: "logCapacity", expected: "0...100000")
        try profile.validate()
        return self
    }
}

/// The treatment of one API's requests. Each API has its own profile, which can change while the simulator runs.
package struct TrafficProfile: Sendable, Hashable {
    /// The time until an answer begins.
    package var latency = LatencyDistribution.fixed(.zero)
    /// The share of requests (0...1) that end in a fault, by its spelling in `FaultTable`: `["503": 0.01]`. At most 1 in
    /// all.
    package var faults: [String: Double] = [:]
    /// The number of requests that are served at a time, while the others wait for their turn. `nil` for no limit.
    package var capacity: Capacity?
    /// The number of requests per second of each key. `nil` for no limit.
    package var quota: Quota?

    /// Makes a profile without latency, faults and limits.
    package init() {}

    /// A limit on the requests that are served at a time.
    package struct Capacity: Sendable, Hashable {
        /// The number of requests that are served at a time, at least 1.
        package var concurrent: Int
        /// The number of requests that may wait, at least 0. More get HTTP 503.
        package var queue = 10_000
        /// True to spend a turn on requests whose client has gone away, as most servers do.
        package var servesAbandoned = true

        /// Makes a limit with the usual queue.
        package init(concurrent: Int) { self.concurrent = concurrent }
    }

    /// A limit on the requests per second.
    package struct Quota: Sendable, Hashable {
        /// The requests per second, above 0.
        package var requestsPerSecond: Double
        /// The number of requests at once after a pause, at least 1.
        package var burst: Int
        /// The seconds that a refused request is told to wait, in `RetryInfo` (Google Places (New)) or `Retry-After` (the
        /// others). `nil` says nothing, like the real APIs.
        package var retryAfter: Int?

        /// Makes a limit.
        /// - Parameter burst: `nil` for as many as in one second.
        package init(requestsPerSecond: Double, burst: Int? = nil, retryAfter: Int? = nil) {
            self.requestsPerSecond = requestsPerSecond
            self.burst = burst ?? max(1, Int(saturating: min(requestsPerSecond, 1e9).rounded(.up)))
            self.retryAfter = retryAfter
        }
    }

    /// - Throws: `SimulatorError.invalidConfiguration`, which names the member.
    func validate() throws(SimulatorError) {
        var sum = 0.0
        for (spelling, share) in faults {
            try check(
                Fault(spelling) != nil, member: "faults",
                expected: "a spelling of the fault table, not \"\(spelling.prefix(40))\"")
            try check((0...1).contains(share), member: "faults", expected: "shares of 0...1")
            sum += share
        }

        try check(sum <= 1.000_001, member: "faults", expected: "at most 1 in all")
        if let capacity {
            try check(
                (1...1_000_000).contains(capacity.concurrent), member: "capacity.concurrent", expected: "1...1000000")
            try check((0...1_000_000).contains(capacity.queue), member: "capacity.queue", expected: "0...1000000")
        }

        if let quota {
            let rate = quota.requestsPerSecond
            try check(rate > 0 && rate <= 1e9, member: "quota.requestsPerSecond", expected: "above 0, up to 1e9")
            try check((1...1_000_000_000).contains(quota.burst), member: "quota.burst", expected: "1...1000000000")
            try check((0...86_400).contains(quota.retryAfter ?? 0), member: "quota.retryAfter", expected: "0...86400 s")
        }
    }

    /// Reads a text like `503:0.05,reset:0.01` as shares by spelling; `nil` when the text is not of that form.
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

/// The reason why the simulator does not start, or does not take a change.
package enum SimulatorError: Error, Hashable, CustomStringConvertible {
    /// A member has a wrong value. `expected` says what the value should be.
    case invalidConfiguration(member: String, expected: String)
    /// `start()` was called twice, or after `shutdown()`.
    case startedTwice
    /// The address cannot be listened on. The reason is a few words for a person.
    case cannotListen(host: String, port: Int, reason: String)

    /// One line for a person.
    package var description: String {
        switch self {
        case .invalidConfiguration(let member, let expected): "\(member): expected \(expected)"
        case .startedTwice: "the simulator was started before"
        case .cannotListen(let host, let port, let reason): "cannot listen on \(host):\(port): \(reason)"
        }
    }
}

private func check(_ holds: Bool, member: String, expected: String) throws(SimulatorError) {
    if !holds { throw .invalidConfiguration(member: member, expected: expected) }
}
