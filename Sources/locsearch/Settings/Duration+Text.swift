import Basics

extension Duration {
    /// Reads `250ms`, `5s`, `1.5s`, `2m`, `1h`: whole milliseconds of up to 30,000 years.
    init?(text: String) {
        let units: [(String, Double)] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)]
        guard let (unit, milliseconds) = units.first(where: { text.hasSuffix($0.0) }) else { return nil }
        let digits = text.dropLast(unit.count)
        guard digits.first?.isNumber == true, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
            let number = Double(digits), let whole = Int64(exactly: number * milliseconds), whole < 1 << 50
        else { return nil }
        self = .milliseconds(whole)
    }

    /// The shortest way to write it.
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
