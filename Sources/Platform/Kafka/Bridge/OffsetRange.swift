/// The range in which offsets enter the process.
///
/// A broker's answer may hold any number. Within this range, one more than an offset, and the difference of two offsets, fit
/// into `Int64`, so nothing behind the bridge to librdkafka needs to check that again.
enum OffsetRange {
    /// The largest offset, and below zero the smallest of librdkafka's special values. A partition that is written to a
    /// million times a second has 2^61 records after 73,000 years.
    static let largest: Int64 = 1 << 61

    static func bounded(_ offset: Int64) -> Int64 { min(max(offset, -largest), largest) }
}
