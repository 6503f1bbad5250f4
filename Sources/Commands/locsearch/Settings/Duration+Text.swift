import ArgumentParser
import Basics

/// The text forms of durations in settings and output.
extension Duration {
    /// The units in milliseconds. `ms` comes before `m` and `s`, because it ends with `s`.
    private static let units: [(name: String, milliseconds: Double)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000),
    ]

    /// Parses `250ms`, `5s`, `1.5s`, `2m` or `1h`.
    /// - Returns: `nil` for any other text, for a fraction of a millisecond, and for more than 30,000 years.
    init?(text: String) {
        guard let unit = Self.units.first(where: { text.hasSuffix($0.name) }) else { return nil }

        let digits = text.dropLast(unit.name.count)
        let isPlain = digits.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard isPlain, digits.first?.isNumber == true, let number = Double(digits) else { return nil }

        // Rounding makes a product such as 16.1 * 1000 differ a little from the exact one.
        let product = number * unit.milliseconds  // bounded: floating-point numbers
        let difference = product.distance(to: product.rounded()).magnitude
        guard product < 0x1p50, difference / 2 <= product.ulp else { return nil }
        self = .milliseconds(Int64(saturating: product.rounded()))
    }

    /// The duration rounded for display: `250ms`, `2.5s`, `41s`, `6h 14m`, `3d 4h`.
    var readable: String {
        // Limited to about 35,000 years, so that the roundings below cannot overflow.
        let milliseconds = min(max(0, milliseconds(roundedUp: false)), 1 << 50)
        guard milliseconds >= 1000 else { return "\(milliseconds)ms" }

        let tenths = (milliseconds + 50) / 100  // bounded: below 2^51
        if tenths < 100 { return tenths % 10 == 0 ? "\(tenths / 10)s" : "\(tenths / 10).\(tenths % 10)s" }

        let seconds = (milliseconds + 500) / 1000  // bounded: below 2^51
        let minutes = (seconds + 30) / 60  // bounded: below 2^51
        return switch seconds {
        case ..<60: "\(seconds)s"
        case ..<3600: Self.joined((seconds / 60, "m"), (seconds % 60, "s"))
        case ..<86_400: Self.joined((minutes / 60, "h"), (minutes % 60, "m"))
        default: Self.joined((seconds / 86_400, "d"), (seconds % 86_400 / 3600, "h"))
        }
    }

    private static func joined(_ large: (Int, String), _ small: (Int, String)) -> String {
        small.0 == 0 ? "\(large.0)\(large.1)" : "\(large.0)\(large.1) \(small.0)\(small.1)"
    }

    /// The shortest text from which `init(text:)` restores the duration, in whole milliseconds.
    var text: String {
        let milliseconds = milliseconds(roundedUp: false)
        return switch milliseconds {
        case 0: "0ms"
        case let value where value % 3_600_000 == 0: "\(value / 3_600_000)h"
        case let value where value % 60_000 == 0: "\(value / 60_000)m"
        case let value where value % 1000 == 0: "\(value / 1000)s"
        case let value: "\(value)ms"
        }
    }
}

/// A duration as the value of an option, in the notation of settings: `250ms`, `5s`, `2m`.
///
/// Options use it with `transform: DurationArgument.read`, whose error describes the notation. ArgumentParser's own
/// error would only repeat the value.
struct DurationArgument: CustomStringConvertible {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    /// Parses the value of an option.
    /// - Throws: a usage error that describes the notation.
    static func read(_ text: String) throws -> DurationArgument {
        guard let duration = Duration(text: text) else { throw ValidationError(Duration.fault(of: text)) }
        return DurationArgument(duration)
    }

    var description: String { duration.text }
}

extension Duration {
    /// Returns what is wrong with a text that is not a duration.
    static func fault(of text: String) -> String {
        Double(text) == nil
            ? "expected a time such as 250ms, 5s or 2m"
            : "the unit is missing: write \(text)s for seconds, or \(text)ms, \(text)m, \(text)h"
    }
}
