/// The place where a group begins to read a partition for which it has committed no offset yet.
///
/// A partition with a committed offset always goes on there. An offset that the broker no longer has, because the records
/// were deleted meanwhile, follows `auto.offset.reset`, which is `earliest` unless `kafka.properties` says otherwise: what
/// waits is not skipped because the first of it is gone. Past the end of the log nothing is read, unless `kafka.properties` sets it.
public enum StartPosition: Sendable, Hashable {
    /// The oldest record there is.
    case earliest
    /// The first record that is written after the partition was assigned for the first time.
    case latest
    /// The first record whose timestamp is not before the given time; what is written from now on, if there is none.
    /// The time is in milliseconds since the Unix epoch.
    case time(milliseconds: Int64)
}
