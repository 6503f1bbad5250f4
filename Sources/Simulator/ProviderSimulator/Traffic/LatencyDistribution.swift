internal import Basics

/// The distribution of the time until the first byte of an answer.
package enum LatencyDistribution: Sendable, Hashable {
    /// Always this time. 0: as fast as possible.
    case fixed(Duration)
    /// A uniform distribution between the two times.
    case uniform(Duration, Duration)
    /// An exponential distribution with this mean: most times are short, a few are long.
    case exponential(mean: Duration)
    /// A log-normal distribution with this median and this 99th percentile, similar to real services.
    case lognormal(p50: Duration, p99: Duration)

    /// Parses `80ms`, `20ms..80ms`, `exp:100ms` (the mean) or `p50:80ms,p99:900ms`; units are `us`, `ms`, `s` and `m`.
    /// Fails for any other text.
    package init?(_ text: String) {
        let text = text.filter { $0 != " " }

        if text.hasPrefix("exp:") {
            guard let mean = Duration(simulated: text.dropFirst(4)) else { return nil }
            self = .exponential(mean: mean)
        } else if text.hasPrefix("p50:") {
            let parts = text.dropFirst(4).split(separator: ",p99:", omittingEmptySubsequences: false)
            guard parts.count == 2, let p50 = Duration(simulated: parts[0]), let p99 = Duration(simulated: parts[1])
            else { return nil }
            guard p50 > .zero, p99 >= p50 else { return nil }
            self = .lognormal(p50: p50, p99: p99)
        } else if text.contains("..") {
            let parts = text.split(separator: "..", omittingEmptySubsequences: false)
            guard parts.count == 2, let low = Duration(simulated: parts[0]), let high = Duration(simulated: parts[1]),
                low <= high
            else { return nil }
            self = .uniform(low, high)
        } else {
            guard let duration = Duration(simulated: text) else { return nil }
            self = .fixed(duration)
        }
    }

    /// The text from which `init(_:)` restores the distribution.
    package var text: String {
        switch self {
        case .fixed(let duration): duration.simulatedText
        case .uniform(let low, let high): "\(low.simulatedText)..\(high.simulatedText)"
        case .exponential(let mean): "exp:\(mean.simulatedText)"
        case .lognormal(let p50, let p99): "p50:\(p50.simulatedText),p99:\(p99.simulatedText)"
        }
    }

    /// Returns a random time in whole microseconds, at most ten minutes.
    func sample(_ numbers: inout HashStream) -> Int {
        let longest = 600_000_000.0

        switch self {
        case .fixed(let duration): return min(duration.wholeMicroseconds, Int(saturating: longest))
        case .uniform(let low, let high):
            let (shortest, longest) = (Double(low.wholeMicroseconds), Double(high.wholeMicroseconds))
            return Int(saturating: shortest + numbers.unit() * (longest - shortest))  // bounded: floating-point numbers
        case .exponential(let mean):
            // bounded: floating-point numbers
            let drawn = -Mathematics.logarithm(1 - numbers.unit()) * Double(mean.wholeMicroseconds)
            return Int(saturating: min(drawn, longest))
        case .lognormal(let p50, let p99):
            // The 99th percentile of a normal distribution is 2.3263 standard deviations above its median.
            let (median, high) = (Double(p50.wholeMicroseconds), Double(p99.wholeMicroseconds))
            let sigma = Mathematics.logarithm(high / median) / 2.3263  // bounded: floating-point numbers
            return Int(saturating: min(median * Mathematics.exponential(sigma * Self.normal(&numbers)), longest))
        }
    }

    /// Returns a random number of the standard normal distribution (Box-Muller method).
    private static func normal(_ numbers: inout HashStream) -> Double {
        let radius = (-2 * Mathematics.logarithm(1 - numbers.unit())).squareRoot()
        return radius * Mathematics.cosine(360 * numbers.unit())
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
