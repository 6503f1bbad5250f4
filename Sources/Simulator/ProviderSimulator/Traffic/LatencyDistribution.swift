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

    /// Parses `80ms` or `p50:80ms,p99:900ms`; units are `us`, `ms`, `s` and `m`. Fails for any other text.
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

    /// The text from which `init(_:)` restores the distribution.
    package var text: String {
        switch self {
        case .fixed(let duration): duration.simulatedText
        case .lognormal(let p50, let p99): "p50:\(p50.simulatedText),p99:\(p99.simulatedText)"
        }
    }

    /// Returns a random time in whole microseconds, at most ten minutes.
    func sample(_ numbers: inout HashStream) -> Int {
        let longest = 600_000_000.0

        switch self {
        case .fixed(let duration): return min(duration.wholeMicroseconds, Int(saturating: longest))
        case .lognormal(let p50, let p99):
            // The 99th percentile of a normal distribution is 2.3263 standard deviations above its median.
            let (median, high) = (Double(p50.wholeMicroseconds), Double(p99.wholeMicroseconds))
            let sigma = log(high / median) / 2.3263  // bounded: floating-point numbers
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
    /// The duration in whole microseconds; `Int.max` if it is longer.
    var wholeMicroseconds: Int {
        let (seconds, attoseconds) = components
        let whole = Int(clamping: seconds).saturatingMultiplied(by: 1_000_000)
        return whole.saturatingAdding(Int(attoseconds / 1_000_000_000_000))
    }

    /// Parses `250ms`, `5s`, `1.5s`, `2m` or `300us`, up to one day.
    init?(simulated text: some StringProtocol) {
        let units: [(suffix: String, microseconds: Double)] = [("us", 1), ("ms", 1000), ("s", 1e6), ("m", 60e6)]
        for unit in units where text.hasSuffix(unit.suffix) {
            guard let number = Double(text.dropLast(unit.suffix.count)), number >= 0 else { return nil }
            let microseconds = number * unit.microseconds  // bounded: floating-point numbers
            guard microseconds <= 86_400e6 else { return nil }
            self = .microseconds(Int64(saturating: microseconds))
            return
        }
        guard text == "0" else { return nil }
        self = .zero
    }

    /// The text from which `init(simulated:)` restores the duration.
    var simulatedText: String {
        let microseconds = wholeMicroseconds
        if microseconds % 1_000_000 == 0 { return "\(microseconds / 1_000_000)s" }
        return microseconds % 1000 == 0 ? "\(microseconds / 1000)ms" : "\(microseconds)us"
    }
}
