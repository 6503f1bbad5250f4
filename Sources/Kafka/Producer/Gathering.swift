internal import DequeModule
internal import EventLoop

/// Records that wait for company before librdkafka gets them, and whether any do: while the loop has no rest.
///
/// A batch is of one partition, so at a linger of some milliseconds most batches hold a record or two, and each costs a
/// turn of librdkafka's thread and two of the system's. Where the loop rests, that costs nobody anything.
struct Gathering {
    /// Bounds what waits, whatever the load.
    private static let capacity = (records: 512, bytes: 1 << 20)
    /// How often the loop's rest is looked at: long against a turn of the loop.
    private static let period = Duration.milliseconds(20)

    /// How long a record waits.
    let time: Duration
    /// True while records are to be gathered.
    private(set) var isOn = false
    /// Hands over what was gathered; `nil` while nothing waits for it.
    var timer: TimerID?
    private var records: Deque<(record: ProducerRecord, slot: Int)> = []
    private var bytes = 0
    /// Made away from the loop, which cannot be asked there, so its rest before counts as the first period's.
    private var rest = LoopRest(every: period, asleep: .zero, at: .now)

    /// - Parameter time: How long a record waits; zero never gathers any.
    init(for time: Duration) { self.time = time }

    var isEmpty: Bool { records.isEmpty }
    var count: Int { records.count }
    var isFull: Bool { records.count >= Self.capacity.records || bytes >= Self.capacity.bytes }
    var first: (record: ProducerRecord, slot: Int)? { records.first }

    mutating func add(_ record: ProducerRecord, slot: Int) {
        records.append((record, slot))
        bytes += record.value?.count ?? 0
    }

    mutating func removeFirst() {
        guard let (record, _) = records.popFirst() else { return }
        bytes -= record.value?.count ?? 0
    }

    /// Ends the gathering until the loop is looked at again: what comes goes straight to librdkafka.
    mutating func end() { isOn = false }

    /// Begins or ends the gathering, once in a period at most: it begins with less than a sixteenth of the period at rest,
    /// and ends with more than an eighth.
    /// - Parameter asleep: How long the loop has had nothing to do since it began.
    mutating func look(asleep: Duration, at now: ContinuousClock.Instant) {
        guard time > .zero, let share = rest.share(asleep: asleep, at: now) else { return }

        // Records that found no room go first, so gathering does not begin again before they are gone.
        isOn = (isOn || records.isEmpty) && share < (isOn ? 1 / 8 : 1 / 16)
    }
}
