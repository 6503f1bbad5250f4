/// Where reading of a partition begins.
///
/// This lookup is never left to librdkafka (2.0.2 to 2.15). While a transaction blocks a group's offsets, librdkafka
/// requests them repeatedly. If a rebalance arrives meanwhile, it interprets the answer to an older request as "nothing
/// is committed". It then begins at `auto.offset.reset` (`rd_kafka_assignment_apply_offsets`), and every outcome of the
/// partition would be published twice.
enum ReadingStart: Sendable, Hashable {
    /// The group's committed offset. If there was none, the start offset that the group has just committed.
    case committed(CommittedOffset)
    /// The oldest record.
    case beginning
    /// Unknown. The partition may not be read before `ClientHandle.seek` has set another start.
    case unknown
}
