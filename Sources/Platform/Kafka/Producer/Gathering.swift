internal import Basics
internal import DequeModule
internal import EventLoop

/// Records that wait for a larger batch before librdkafka gets them, and for how long at present.
///
/// A batch is of one partition, and each batch costs a turn of librdkafka's thread and two of the system's. Where few
/// records come, waiting adds no second record, only delay. Where many come, `linger` gathers those that
/// would leave one by one. Where the loop has no rest besides, a longer wait leaves requests more of the processor.
struct Gathering {
    /// Bounds what waits, whatever the load.
    private static let capacity = (records: 512, bytes: 1 << 20)
    /// How often the load is looked at: long against a turn of the loop.
    private static let period = Duration.milliseconds(20)
    /// The records within a linger that make the wait worth while, and those below which it is not any more. Records spread
    /// over the partitions of two topics, so that fewer would hardly ever share a batch.
    private static let company = (begin: 8.0, end: 4.0)

    private let linger: Duration
    private let busyLinger: Duration
    /// How long a record that comes now waits; zero while it goes straight to librdkafka.
    private(set) var time = Duration.zero
    /// Hands over what was gathered; `nil` while nothing waits for it.
    var timer: TimerID?
    private var records: Deque<(record: ProducerRecord, slot: Int)> = []
    private var bytes = 0
    private var isBusy = false
    private var isDense = false
    /// The records since the load was last looked at, and when that was.
    private var comers = 0
    private var looked: Instant
    /// Made away from the loop, which cannot be asked there, so its rest before counts as the first period's.
    private var rest: LoopRest

    /// - Parameters:
    ///   - linger: how long a record waits while many come.
    ///   - busyLinger: how much longer while the loop has no rest. With both zero, none ever waits.
    init(linger: Duration, busyLinger: Duration, at now: Instant) {
        looked = now
        rest = LoopRest(every: Self.period, asleep: .zero, at: now)
        self.linger = linger
        self.busyLinger = busyLinger
    }

    /// True while records are to be gathered.
    var isOn: Bool { time > .zero }
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

    /// Notes that a record has come, whether it is to wait or not.
    mutating func noteRecord() { comers += 1 }

    /// Ends the gathering until the load is looked at again: what comes goes straight to librdkafka.
    mutating func end() { time = .zero }

    /// Decides how long records wait, once in a period at most. The loop counts as busy from less than a sixteenth of the
    /// period at rest until more than an eighth.
    /// - Parameter asleep: how long the loop has had nothing to do since it began.
    mutating func look(asleep: Duration, at now: Instant) {
        guard let share = rest.share(asleep: asleep, at: now) else { return }
        let perLinger = Double(comers) * (linger.inSeconds / looked.duration(to: now).inSeconds)
        (comers, looked) = (0, now)

        isBusy = share < (isBusy ? 1 / 8 : 1 / 16)
        isDense = perLinger >= (isDense ? Self.company.end : Self.company.begin)
        // Records that found no room go first, so gathering does not begin again before they are gone.
        guard isOn || records.isEmpty else { return }
        time = isBusy ? linger + busyLinger : isDense ? linger : .zero
    }
}
