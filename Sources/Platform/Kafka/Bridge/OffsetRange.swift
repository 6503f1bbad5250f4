/// Limits offsets from outside to a safe range.
///
/// A broker's answer may contain any number. Within this range, an offset plus one, and the difference of two offsets,
/// fit into `Int64`. Code outside the bridge to librdkafka therefore needs no overflow checks.
enum OffsetRange {
    /// The largest offset; its negative limits librdkafka's special values. A partition with a million new records per
    /// second reaches 2^61 after 73,000 years.
    static let largest: Int64 = 1 << 61

    static func bounded(_ offset: Int64) -> Int64 { min(max(offset, -largest), largest) }
}
