internal import Basics
internal import DequeModule
internal import EventLoop

/// Records that wait for a larger batch before librdkafka gets them, and the length of that wait.
///
/// A batch contains records of one partition. Each batch costs one wake-up of librdkafka's thread and two of the
/// system's. At low load, waiting adds delay but no second record to a batch. At high load, `linger` combines records
/// that would be sent one by one. If the loop is also busy, a longer wait leaves more processor time for requests.
struct Gathering {
    /// The maximum number and size of waiting records, at any load.
    private static let capacity = (records: 512, bytes: 1 << 20)
    /// The interval between load measurements; long compared with one iteration of the loop.
    private static let period = Duration.milliseconds(20)
    /// The records per linger from which waiting begins, and below which it ends. Records are spread over the
    /// partitions of two topics, so fewer records would rarely share a batch.
    private static let company = (begin: 8.0, end: 4.0)

    private let linger: Duration
    private let busyLinger: Duration
    /// How long a new record waits; zero while records are passed directly to librdkafka.
    private(set) var time = Duration.zero
    /// Enqueues the gathered records; `nil` while none wait.
    var timer: TimerID?
    private var records: Deque<(record: ProducerRecord, slot: Int)> = []
    private var bytes = 0
    private var isBusy = false
    private var isDense = false
    /// The number of records since the last load measurement, and the time of that measurement.
    private var comers = 0
    private var looked: Instant
    /// Created off the loop, where the loop's idle time cannot be read. Therefore all earlier idle time counts in the
    /// first period.
    private var rest: LoopRest

    /// - Parameters:
    ///   - linger: How long a record waits at high load.
    ///   - busyLinger: The additional wait while the loop is busy. If both are zero, records never wait.
    init(linger: Duration, busyLinger: Duration, at now: Instant) {
        looked = now
        rest = LoopRest(every: Self.period, asleep: .zero, at: now)
        self.linger = linger
        self.busyLinger = busyLinger
    }

    /// True while records are gathered.
    var isOn: Bool { time > .zero }
    var isEmpty: Bool { records.isEmpty }
    var count: Int { records.count }
    var isFull: Bool { records.count >= Self.capacity.records || bytes >= Self.capacity.bytes }
    mutating func add(_ record: ProducerRecord, slot: Int) {
        records.append((record, slot))
        bytes += record.value?.count ?? 0
    }

    mutating func popFirst() -> (record: ProducerRecord, slot: Int)? {
        guard let first = records.popFirst() else { return nil }
        bytes -= first.record.value?.count ?? 0
        return first
    }

    /// Returns a record that found no room to the head of the line.
    mutating func putBack(_ record: ProducerRecord, slot: Int) {
        records.prepend((record, slot))
        bytes += record.value?.count ?? 0
    }

    /// Counts a record, whether it waits or not.
    mutating func noteRecord() { comers += 1 }

    /// Ends gathering until the next load measurement: new records are passed directly to librdkafka.
    mutating func end() { time = .zero }

    /// Decides how long records wait, at most once per period. The loop becomes busy below one sixteenth of idle time
    /// per period, and stops being busy above one eighth.
    /// - Parameter asleep: The total idle time of the loop since it began.
    mutating func look(asleep: Duration, at now: Instant) {
        guard let share = rest.share(asleep: asleep, at: now) else { return }
        let perLinger = Double(comers) * (linger.inSeconds / looked.duration(to: now).inSeconds)
        (comers, looked) = (0, now)

        isBusy = share < (isBusy ? 1 / 8 : 1 / 16)
        isDense = perLinger >= (isDense ? Self.company.end : Self.company.begin)
        // Records that found no room go first, so gathering resumes only after they are gone.
        guard isOn || records.isEmpty else { return }
        time = isBusy ? linger + busyLinger : isDense ? linger : .zero
    }
}
