internal import DequeModule
internal import EventLoop

/// Records that wait for company before librdkafka gets them, and whether any do: while the loop has no rest.
///
/// A batch is of one partition, so at a linger of some milliseconds most hold a record or two, and each costs a turn of
/// librdkafka's thread and two of the system's. Where the loop rests, that costs nobody anything.
struct Gathering {
    /// Bounds what waits, whatever the load.
    private static let most = (records: 512, bytes: 1 << 20)
    /// How often the loop's rest is looked at: long against a turn of the loop.
    private static let period = Duration.milliseconds(20)

    /// How long a record waits.
    let time: Duration
    private(set) var isOn = false
    private var records: Deque<(record: ProducerRecord, place: Int)> = []
    private var bytes = 0
    /// Made away from the loop, which cannot be asked there: its rest before counts as the first period's.
    private var rest = LoopRest(every: period, asleep: .zero, at: .now)

    /// - Parameter time: zero: never.
    init(for time: Duration) { self.time = time }

    var isEmpty: Bool { records.isEmpty }
    var count: Int { records.count }
    var isFull: Bool { records.count >= Self.most.records || bytes >= Self.most.bytes }
    var first: (record: ProducerRecord, place: Int)? { records.first }

    mutating func add(_ record: ProducerRecord, place: Int) {
        records.append((record, place))
        bytes += record.value?.count ?? 0
    }

    mutating func removeFirst() {
        guard let (record, _) = records.popFirst() else { return }
        bytes -= record.value?.count ?? 0
    }

    /// Until the loop is looked at again: what comes goes straight to librdkafka.
    mutating func end() { isOn = false }

    /// Begins or ends, once in a period at most: with less than a sixteenth of it at rest, with more than an eighth.
    /// - Parameter asleep: for how long the loop had nothing to do, since it began.
    mutating func look(asleep: Duration, at now: ContinuousClock.Instant) {
        guard time > .zero, let share = rest.share(asleep: asleep, at: now) else { return }
        // What found no room goes first.
        isOn = (isOn || records.isEmpty) && share < (isOn ? 1 / 8 : 1 / 16)
    }
}
