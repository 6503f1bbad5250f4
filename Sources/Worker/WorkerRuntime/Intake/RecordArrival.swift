internal import Basics
internal import EventContract

/// The time at which records were taken from the consumer. Read once for all records of one read.
struct RecordArrival {
    /// By the loop's clock, for measuring durations.
    let instant: Instant
    /// By the wall clock, for comparing with the timestamps of records.
    let time: EventTime

    /// Returns the time that a record has waited in its topic, by its timestamp. Zero if the timestamp is in the
    /// future, `nil` if there is none.
    func wait(of record: IncomingRecord) -> Duration? {
        record.timestamp.map { max(.zero, time.duration(since: $0)) }
    }
}
