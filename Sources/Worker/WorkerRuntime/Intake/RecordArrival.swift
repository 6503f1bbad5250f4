internal import Basics
internal import EventContract

/// The time at which records were taken from the consumer. Read once for all that were read together.
struct RecordArrival {
    /// The loop's clock, for measuring what follows.
    let instant: Instant
    /// The wall clock, for comparing with records' timestamps.
    let time: EventTime

    /// Returns how long a record had waited in its topic, by its timestamp; zero for a timestamp that is ahead of our clock,
    /// and `nil` without one.
    func wait(of record: IncomingRecord) -> Duration? {
        record.timestamp.map { max(.zero, time.duration(since: $0)) }
    }
}
