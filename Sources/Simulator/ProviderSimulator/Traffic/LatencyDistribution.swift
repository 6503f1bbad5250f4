internal import Basics
internal import LibC

/// The distribution of the time until the first byte of an answer.
package enum LatencyDistribution: Sendable, Hashable {
    /// Always this time. 0: as fast as possible.
    case fixed(Duration)
    /// A log-normal distribution with this median and this 99th percentile, similar to real services.
    case lognormal(p50: Duration, p99: Duration)

    /// The texts that `init(_:)` parses, for people.
    package static let expectation = "80ms, or p50:80ms,p99:900ms"

    /// Parses `80ms` or `p50:80ms,p99:900ms`; units are `ms`, `s` and `m`. Fails for any other text.
    package init?(_ text: String) {
        let text = text.filter { $0 != " " }

        guard text.hasPrefix("p50:") else {
            guard let duration = Duration(simulated: text) else { return nil }
            self = .fixed(duration)
            return
        }
        let parts = text.dropFirst(4).split(separator: ",p99:", omittingEmptySubsequences: false)
        guard parts.count == 2, let p50 = Duration(simulated: parts[0]), let p99 = Duration(simulated: parts[1]),
            p50 > .zero, p99 >= p50
        else { return nil }
        self = .lognormal(p50: p50, p99: p99)
    }

    /// Returns a random time in whole microseconds, at most ten minutes.
    func sample(_ numbers: inout HashStream) -> Int {
        let longest = 600_000_000.0

        switch self {
        // bounded: floating-point numbers
        case .fixed(let duration): return Int(saturating: min(duration / .microseconds(1), longest))
        case .lognormal(let p50, let p99):
            // The 99th percentile of a normal distribution is 2.3263 standard deviations above its median.
            let median = p50 / .microseconds(1)  // bounded: floating-point numbers
            let sigma = log(p99 / p50) / 2.3263  // bounded: floating-point numbers
            // bounded: floating-point numbers
            return Int(saturating: min(median * exp(sigma * Self.normal(&numbers)), longest))
        }
    }

    /// Returns a random number of the standard normal distribution (Box-Muller method).
    private static func normal(_ numbers: inout HashStream) -> Double {
        // bounded: floating-point numbers
        let radius = (-2 * log(1 - numbers.unit())).squareRoot()
        // bounded: floating-point numbers
        return radius * cos(2 * .pi * numbers.unit())
    }
}

extension Duration {
    /// Parses `250ms`, `5s`, `1.5s` or `2m`, up to one day.
    fileprivate init?(simulated text: some StringProtocol) {
        for (unit, milliseconds) in [("ms", 1.0), ("s", 1000), ("m", 60_000)] where text.hasSuffix(unit) {
            // bounded: floating-point numbers
            guard let number = Double(text.dropLast(unit.count)), case let time = number * milliseconds,
                (0...86_400_000).contains(time)
            else { return nil }
            self = .milliseconds(time)
            return
        }
        return nil
    }
}
