/// The start of the reading of a partition.
///
/// It is never left to librdkafka to look that up. While a transaction holds a group's offsets back, librdkafka asks for them
/// again and again; where a rebalance comes meanwhile, it takes the answer to an older question for "nothing is committed",
/// and begins at `auto.offset.reset` (`rd_kafka_assignment_apply_offsets`, 2.0.2 to 2.15). Every outcome of the partition
/// would be published a second time.
enum ReadingStart: Sendable, Hashable {
    /// The group's committed offset; where it had none, the one at which it begins and which it has just committed.
    case committed(CommittedOffset)
    /// The oldest record there is.
    case beginning
    /// It is not known yet. Nothing may be read before `ClientHandle.seek` has set another start.
    case unknown
}
