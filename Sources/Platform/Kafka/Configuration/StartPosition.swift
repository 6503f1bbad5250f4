/// Where a group begins to read a partition for which it has no committed offset.
///
/// A partition with a committed offset always continues there. If the broker has deleted the records at that offset,
/// reading follows `auto.offset.reset`. That is `earliest` unless `kafka.properties` sets it, so that the remaining
/// records are not skipped. Past the end of the log nothing is read, unless `kafka.properties` sets the property.
public enum StartPosition: Sendable, Hashable {
    /// The oldest record.
    case earliest
    /// The first record written after the partition's first assignment.
    case latest
    /// The first record whose timestamp is at or after the given time, or the partition's end if there is none. The
    /// time is in milliseconds since the Unix epoch.
    case time(milliseconds: Int64)
}
