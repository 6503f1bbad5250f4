/// A wall-clock time in milliseconds, from any clock: the timestamp of a record may be any number.
///
/// It is within the years 1 to 9999, so that the difference of two times, and a time in microseconds, fit into `Int64`.
@frozen public struct WallTime: Sendable, Hashable, Comparable {
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
}
