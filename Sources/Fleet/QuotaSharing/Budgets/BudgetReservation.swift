public import Basics

/// The calls of one provider's budget that one member has reserved and not made.
struct BudgetReservation {
    /// The budget of a day by this member's settings.
    let limit: Int
    /// The provider's current day; `nil` before the first tick.
    private(set) var day: BudgetDay?
    /// Counts the days that have begun, so that a call of one day cannot count for the next.
    private(set) var epoch = 0
    /// The reserved calls, which may be made at once.
    private(set) var held = 0
    /// The calls requested in messages that have not been read back.
    private(set) var asked = 0
    /// The number of waiting calls.
    var waiting = 0 {
        didSet { if waiting > 0 { isInDemand = true } }
    }
    /// The waiting calls of batch requests.
    var waitingBatch = 0
    /// True if a call was made or waited since the log last answered, or shortly before.
    private(set) var isInDemand = false
    /// The unreported calls, by day and kind.
    private(set) var made: [String: [String: Int]] = [:]
    /// The time since which `made` has not been empty.
    private(set) var madeSince: Instant?
    /// The time at which the last call was taken.
    private(set) var lastTake: Instant
    /// The recent calls per second.
    private(set) var pace = 0.0
    /// The part of `pace` that comes from batch requests.
    private(set) var batchPace = 0.0
    private var (takes, batchTakes) = (0, 0)
    private var paceMeasured: Instant

    init(limit: Int, at now: Instant) {
        self.limit = limit
        (lastTake, paceMeasured) = (now, now)
    }

    // MARK: - Calls

    /// True if a call is reserved.
    func hasCall(at now: Instant) -> Bool { held > 0 && day.map { now < $0.end } ?? false }

    /// Takes one call, if one is reserved.
    mutating func tryTake(of requestClass: RequestClass, at now: Instant) -> Bool {
        guard hasCall(at: now) else { return false }
        held -= 1
        isInDemand = true
        takes += 1
        if requestClass == .batch { batchTakes += 1 }
        lastTake = now
        return true
    }

    /// Returns a call that was not made. A call of another day has expired.
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

    /// Begins a day. The reserved calls of the previous day expire.
    mutating func begin(_ day: BudgetDay) {
        defer { self.day = day }
        guard day.label != self.day?.label else { return }
        previousDay = self.day?.label
        epoch += 1
        (held, asked) = (0, 0)
    }

    // MARK: - Messages

    /// Updates the pace. It follows the calls within a second or two, and is zero after a pause.
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
    }

    /// Called when the log has answered. Clears the demand if no call waits and none was taken in the last `idle`.
    mutating func noteAnswer(at now: Instant, idle: Duration) {
        if waiting == 0, lastTake.duration(to: now) >= idle { isInDemand = false }
    }

    mutating func forgetAsked() { asked = 0 }

    /// Removes calls that are to be returned.
    /// - Returns: the number of calls removed.
    mutating func remove(_ count: Int) -> Int {
        let removed = min(count, held)
        held -= removed
        return removed
    }

    /// Removes and returns the calls that are to be reported.
    mutating func takeMade() -> [String: [String: Int]] {
        defer { (made, madeSince) = ([:], nil) }
        return made
    }

    /// Applies the grant to a message of this member.
    mutating func receive(_ granted: Int, askedFor take: Int, on day: String) {
        guard day == self.day?.label else { return }
        asked = max(0, asked - take)
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
    /// The day, such as `2026-11-23`.
    public let label: String
    /// The start of the next day.
    public let end: Instant

    public init(label: String, end: Instant) {
        self.label = label
        self.end = end
    }
}
