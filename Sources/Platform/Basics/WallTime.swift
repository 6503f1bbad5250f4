/// A wall-clock time in milliseconds, from any clock: the timestamp of a record may be any number. Not for measuring: the
/// system may adjust its clock.
///
/// It is within the years 1 to 9999, so that the difference of two times, and a time in microseconds, fit into `Int64`.
@frozen public struct WallTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The milliseconds since 1970-01-01T00:00:00Z without leap seconds.
    public let milliseconds: Int64

    /// 0001-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z: the range of RFC 3339.
    public static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// Makes a time from milliseconds after 1970-01-01T00:00:00Z.
    /// - Parameter milliseconds: Limited to the years 1 to 9999.
    public init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, Self.range.lowerBound), Self.range.upperBound)
    }

    public static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }

    /// Returns the time from `earlier` to this one; negative if this is the earlier one.
    public func duration(since earlier: WallTime) -> Duration { .milliseconds(milliseconds - earlier.milliseconds) }

    /// Returns the time that is later by a duration, in whole milliseconds and at most the last one.
    package func adding(_ duration: Duration) -> WallTime {
        WallTime(milliseconds: milliseconds.saturatingAdding(Int64(duration.milliseconds(roundedUp: true))))
    }

    // MARK: RFC 3339

    /// The time as RFC 3339 in UTC with milliseconds, `2026-11-21T09:30:00.250Z`: always 24 characters.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

    /// `description` as ASCII.
    package var bytes: [UInt8] { [UInt8](atMost: 24) { write(to: &$0) } }

    /// The same without a heap allocation.
    package var text: InlineArray<24, UInt8> { InlineArray { write(to: &$0) } }

    private func write(to text: inout OutputSpan<UInt8>) {
        let (days, time) = milliseconds.flooredQuotientAndRemainder(dividingBy: 86_400_000)
        let date = CivilDate(daysSinceEpoch: days)
        Self.append(twoDigits: date.year / 100, to: &text)
        Self.append(twoDigits: date.year % 100, to: &text)
        text.append(UInt8(ascii: "-"))
        Self.append(twoDigits: date.month, to: &text)
        text.append(UInt8(ascii: "-"))
        Self.append(twoDigits: date.day, to: &text)
        text.append(UInt8(ascii: "T"))
        Self.append(twoDigits: time / 3_600_000, to: &text)
        text.append(UInt8(ascii: ":"))
        Self.append(twoDigits: time / 60_000 % 60, to: &text)
        text.append(UInt8(ascii: ":"))
        Self.append(twoDigits: time / 1000 % 60, to: &text)
        text.append(UInt8(ascii: "."))
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: time / 100 % 10))
        Self.append(twoDigits: time % 100, to: &text)
        text.append(UInt8(ascii: "Z"))
    }

    /// Appends a number below 100 in two digits.
    private static func append(twoDigits number: Int64, to text: inout OutputSpan<UInt8>) {
        let (tens, ones) = number.quotientAndRemainder(dividingBy: 10)
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: tens))
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: ones))
    }

    /// Reads RFC 3339 with any offset and any number of decimals. Digits below a millisecond are dropped, and a leap second
    /// counts as the second after it.
    /// - Returns: `nil` if the text is not such a time.
    public init?(rfc3339 text: [UInt8]) {
        var rest = TimeText(text)
        // No sensible precision needs more than 64 characters.
        guard text.count <= 64,
            let year = rest.number(4), rest.take("-"), let month = rest.number(2), rest.take("-"),
            let day = rest.number(2), rest.take("T") || rest.take("t") || rest.take(" "),
            let hour = rest.number(2), rest.take(":"), let minute = rest.number(2), rest.take(":"),
            let second = rest.number(2), let fraction = rest.fraction(), let offset = rest.offset(), rest.isEmpty,
            let days = CivilDate(year: year, month: month, day: day)?.daysSinceEpoch,
            hour < 24, minute < 60, second <= 60
        else { return nil }

        let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second
        let milliseconds = seconds * 1000 + fraction
        guard Self.range.contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }
}

/// A parser for RFC 3339 times, which takes pieces from the front.
private struct TimeText {
    private let text: [UInt8]
    private var index = 0

    init(_ text: [UInt8]) { self.text = text }

    var isEmpty: Bool { index == text.count }

    mutating func take(_ sign: Unicode.Scalar) -> Bool {
        guard index < text.count, text[index] == UInt8(ascii: sign) else { return false }
        index += 1
        return true
    }

    private mutating func digit() -> Int64? {
        guard index < text.count, text[index].isDigit else { return nil }
        index += 1
        return Int64(text[index - 1] - UInt8(ascii: "0"))
    }

    /// Takes a number of exactly this many digits.
    mutating func number(_ digits: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// Takes a fraction of a second, in milliseconds: 0 if there is none, `nil` if no digit follows the point.
    mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        guard let tenths = digit() else { return nil }
        let milliseconds = tenths * 100 + (digit() ?? 0) * 10
        let thousandths = digit() ?? 0
        while digit() != nil {}
        return milliseconds + thousandths
    }

    /// Takes an offset, in minutes east of UTC.
    mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let isWest = take("-")
        guard isWest || take("+"), let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60
        else { return nil }
        return (isWest ? -1 : 1) * (hours * 60 + minutes)
    }
}
