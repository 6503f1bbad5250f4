public import Basics

/// The calls of one provider's budget that one member has reserved and not yet made.
struct BudgetReservation {
    /// The budget of a day by this member's settings.
    let limit: Int
    /// The provider's day by its clock; `nil` before the first tick.
    private(set) var day: BudgetDay?
    /// Counts the days that have begun, so that a call of one day is never taken for one of the next.
    private(set) var epoch = 0
    /// The calls that may be made at once.
    private(set) var held = 0
    /// The calls that are asked for in messages that are not read back yet.
    private(set) var asked = 0
    /// The calls that wait.
    var waiting = 0 {
        didSet { if waiting > 0 { isInDemand = true } }
    }
    /// Those of `waiting` that are of batch requests.
    var waitingBatch = 0
    /// True when a call was made or waited since the log last answered, or a short time before.
    private(set) var isInDemand = false
    /// The calls made that are not reported yet, by day and kind.
    private(set) var made: [String: [String: Int]] = [:]
    /// The time since when `made` is not empty.
    private(set) var madeSince: Instant?
    /// The time at which a call was last taken.
    private(set) var lastTake: Instant
    /// The calls per second, of late.
    private(set) var pace = 0.0
    /// The part of `pace` that is of batch requests.
    private(set) var batchPace = 0.0
    private var (takes, batchTakes) = (0, 0)
    private var paceMeasured: Instant

    init(limit: Int, at now: Instant) {
        self.limit = limit
        (lastTake, paceMeasured) = (now, now)
    }

    // MARK: - Calls

    /// True where a call is held.
    func hasCall(at now: Instant) -> Bool { held > 0 && day.map { now < $0.end } ?? false }

    /// Takes one call, where one is held.
    mutating func tryTake(of requestClass: RequestClass, at now: Instant) -> Bool {
        guard hasCall(at: now) else { return false }
        held -= 1
        isInDemand = true
        takes += 1
        if requestClass == .batch { batchTakes += 1 }
        lastTake = now
        return true
    }

    /// Takes back a call that was not made. One of another day has lapsed.
    mutating func putBack(epoch: Int) {
        if epoch == self.epoch { held += 1 }
    }

    mutating func noteMade(_ kind: String, epoch: Int, at now: Instant) {
        guard let day = epoch == self.epoch ? day?.label : previousDay else { return }
        made[day, default: [:]][kind, default: 0] += 1
        if madeSince == nil { madeSince = now }
    }

    private var previousDay: String?

    // MARK: - The day

    /// Begins a day. Calls that are reserved of one day lapse with it.
    mutating func begin(_ day: BudgetDay) {
        defer { self.day = day }
        guard day.label != self.day?.label else { return }
        previousDay = self.day?.label
        epoch += 1
        if isPutBack(.yesterdaysCalls) { return }
        (held, asked) = (0, 0)
    }

    // MARK: - Messages

    /// Brings the pace up to date. It follows the calls within a second or two, and is zero after a pause.
    mutating func measurePace(at now: Instant, idle: Duration) {
        let time = paceMeasured.duration(to: now).inSeconds
        guard time >= 0.1 else { return }
        pace += (Double(takes) / time - pace) * min(1, time)
        batchPace += (Double(batchTakes) / time - batchPace) * min(1, time)
        if takes == 0, lastTake.duration(to: now) >= idle { (pace, batchPace) = (0, 0) }
        (takes, batchTakes, paceMeasured) = (0, 0, now)
    }

    mutating func ask(_ count: Int) {
        asked += count
        if isPutBack(.grantNotAwaited) { held += count }
    }

    /// Notes that the log has answered. A provider that no call was taken for in the last `idle` is no longer in
    /// demand.
    mutating func noteAnswer(at now: Instant, idle: Duration) {
        if waiting == 0, lastTake.duration(to: now) >= idle { isInDemand = false }
    }

    mutating func forgetAsked() { asked = 0 }

    /// Removes calls that are to be given back.
    /// - Returns: the number of calls removed.
    mutating func remove(_ count: Int) -> Int {
        let removed = min(count, held)
        if isPutBack(.givenBackAndKept) { return removed }
        held -= removed
        return removed
    }

    /// Removes the calls that are to be reported.
    mutating func takeMade() -> [String: [String: Int]] {
        defer { (made, madeSince) = ([:], nil) }
        return made
    }

    /// Takes in the grant to a message of this member.
    mutating func receive(_ granted: Int, askedFor take: Int, on day: String) {
        guard day == self.day?.label else { return }
        asked = max(0, asked - take)
        if isPutBack(.grantNotAwaited) { return }
        held += granted
    }

    /// Undoes a message of this member that will never be read.
    mutating func restore(_ entry: BudgetMessage.Entry, at now: Instant) {
        if !entry.made.isEmpty {
            made[entry.day, default: [:]].merge(entry.made, uniquingKeysWith: +)
            if madeSince == nil { madeSince = now }
        }
        guard entry.day == day?.label else { return }
        asked = max(0, asked - entry.take)
        held += entry.giveBack
    }
}

/// A provider's day by the clock of one member.
public struct BudgetDay: Sendable, Hashable {
    /// Such as `2026-11-23`.
    public let label: String
    /// The beginning of the next day.
    public let end: Instant

    public init(label: String, end: Instant) {
        self.label = label
        self.end = end
    }
}
