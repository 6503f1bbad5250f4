internal import Basics

/// The configuration of the provider simulator: its address, the accepted keys, and the default treatment of requests.
package struct SimulatorConfiguration: Sendable {
    /// The address to listen on.
    package var host = "127.0.0.1"
    /// The port to listen on, 0 to 65535. 0 selects any free port.
    package var port = 0
    /// The seed of the simulated world. The same seed produces the same places, ids and photos.
    package var seed: UInt64 = 1
    /// The only accepted key. `nil` accepts all keys except the empty one. Keys that begin with `wrong`, `denied` or
    /// `legacy-off` then get the errors for an invalid key, a key without permission, and a key without the legacy API.
    package var apiKey: String?
    /// The time until a page token of Google's older API becomes valid, up to 1 h. Google needs about 2 s.
    package var pageTokenDelay: Duration = .seconds(2)
    /// The initial latency, faults and capacity of every API. `POST /_sim/config` changes them.
    package var profile = TrafficProfile()

    /// Creates the default configuration.
    package init() {}

    /// - Throws: `SimulatorError.invalidConfiguration`, which names the member.
    func validate() throws(SimulatorError) {
        try check((0...65_535).contains(port), member: "port", expected: "0...65535")
        try check(apiKey != "", member: "apiKey", expected: "at least one character")
        try check(
            pageTokenDelay >= .zero && pageTokenDelay <= .seconds(3600), member: "pageTokenDelay", expected: "0...1 h")
        try profile.validate()
    }
}

/// How one API's requests are treated. Each API has its own profile, which can change while the simulator runs.
package struct TrafficProfile: Sendable, Hashable {
    /// The time until an answer begins.
    package var latency = LatencyDistribution.fixed(.zero)
    /// The fraction of requests (0 to 1) that end in a fault, by its name in `FaultTable`: `["503": 0.01]`. The sum is
    /// at most 1.
    package var faults: [String: Double] = [:]
    /// The maximum number of requests served at the same time, 1 to 1,000,000. Further requests wait. A request uses its
    /// permit even after its client has disconnected, as with most servers. `nil`: no limit.
    package var capacity: Int?

    /// Creates a profile without latency, faults and a limit.
    package init() {}

    /// - Throws: `SimulatorError.invalidConfiguration`, which names the member.
    func validate() throws(SimulatorError) {
        var sum = 0.0
        for (spelling, share) in faults {
            try check(
                Fault(spelling) != nil, member: "faults",
                expected: "a name of the fault table, not \"\(spelling.prefix(40))\"")
            try check((0...1).contains(share), member: "faults", expected: "shares of 0...1")
            sum += share
        }

        try check(sum <= 1.000_001, member: "faults", expected: "a sum of at most 1")
        try check((1...1_000_000).contains(capacity ?? 1), member: "capacity", expected: "1...1000000")
    }

    /// Parses a text like `503:0.05,reset:0.01` to fractions by fault name; `nil` if the text is invalid.
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

/// Why the simulator does not start, or rejects a change.
package enum SimulatorError: Error, Hashable, CustomStringConvertible {
    /// A member has an invalid value. `expected` describes valid ones.
    case invalidConfiguration(member: String, expected: String)
    /// The simulator cannot listen on the address. The reason is a short text.
    case cannotListen(host: String, port: Int, reason: String)

    /// The error in one line.
    package var description: String {
        switch self {
        case .invalidConfiguration(let member, let expected): "\(member): expected \(expected)"
        case .cannotListen(let host, let port, let reason): "cannot listen on \(host):\(port): \(reason)"
        }
    }
}

private func check(_ holds: Bool, member: String, expected: String) throws(SimulatorError) {
    if !holds { throw .invalidConfiguration(member: member, expected: expected) }
}
