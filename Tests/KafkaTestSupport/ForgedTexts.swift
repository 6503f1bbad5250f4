public import Kafka
internal import TestSupport

/// Offsets with metadata as a damaged or hostile client of a group may commit it. Some are valid. The same seed gives the same texts.
public struct ForgedTexts {
    private static let numbers: [Int64] = [
        0, 1, 2, 63, 164, 4096, 1 << 31, 1 << 53, 1 << 61, 1 << 62, .max - 1, .max, -1, .min,
    ]
    private static let scraps = [
        "\u{0}", ";", "=", ":", "+", "at=", "running=", "runs=", "99999999999999999999", "é", "\u{301}", " ",
    ]
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

    private var random: SplitMix64

    public init(seed: UInt64) { random = SplitMix64(state: seed) }

    /// Returns the next offset, which librdkafka may return to a consumer.
    public mutating func next() -> CommittedOffset {
        let offset = chance(5) ? Int64(1) << 61 : Int64.random(in: 0...10_000, using: &random)
        var fields = ["locsearch1", "at=\(chance(12) ? number(near: offset) : offset)"]
        for _ in 0..<Int.random(in: 0...4, using: &random) { fields.append(field(near: offset)) }
        if chance(20) { fields.swapAt(0, fields.count - 1) }
        var text = fields.joined(separator: ";")
        while chance(6) { damage(&text) }
        return CommittedOffset(offset, metadata: text)
    }

    private mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }

    private mutating func number(near offset: Int64) -> Int64 {
        if chance(4) { return Self.numbers.randomElement(using: &random) ?? 0 }
        return offset.addingReportingOverflow(Int64.random(in: 0...200, using: &random)).partialValue
    }

    private mutating func field(near offset: Int64) -> String {
        let number = number(near: offset)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return "tries=\(chance(3) ? number : Int64.random(in: 0...4, using: &random))"
        case 1: return "begun=\(number)"
        case 2, 3:
            let steps = (0..<Int.random(in: 0...40, using: &random)).map { _ in chance(30) ? self.number(near: 0) : 1 }
            return "running=" + ([number] + steps).map(String.init).joined(separator: "+")
        case 4:
            let ends = chance(3) ? self.number(near: 0) : Int64.random(in: 0...3, using: &random)
            return "\(Bool.random(using: &random) ? "alone" : "suspect")=\(number):\(ends)"
        case 5: return "bits=\(data(atMost: 40))"
        default: return "runs=\(data(atMost: chance(3) ? 60 : 6))"
        }
    }

    private mutating func data(atMost length: Int) -> String {
        String(
            (0..<Int.random(in: 0...length, using: &random)).map { _ in Self.digits.randomElement(using: &random) ?? "A"
            })
    }

    private mutating func damage(_ text: inout String) {
        var bytes = Array(text.utf8)
        let place = Int.random(in: 0..<max(1, bytes.count), using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where !bytes.isEmpty: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1 where !bytes.isEmpty: bytes.removeSubrange(place..<min(bytes.count, place + 9))
        case 2: bytes.insert(contentsOf: bytes.prefix(30), at: min(place, bytes.count))
        default:
            bytes.insert(
                contentsOf: (Self.scraps.randomElement(using: &random) ?? "").utf8, at: min(place, bytes.count))
        }
        text = String(decoding: bytes, as: UTF8.self)
    }
}
