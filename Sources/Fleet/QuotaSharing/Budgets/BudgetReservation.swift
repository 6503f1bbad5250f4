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
    var pace: CallPace

    init(limit: Int, at now: Instant) {
        self.limit = limit
        pace = CallPace(at: now)
    }

    /// Returns the number of waiting calls, with or without those of batch requests.
    func waiting(withBatch: Bool) -> Int { withBatch ? waiting : waiting - waitingBatch }

    // MARK: - Calls

    /// True if a call is reserved.
    func hasCall(at now: Instant) -> Bool { held > 0 && day.map { now < $0.end } ?? false }

    /// Takes one call, if one is reserved.
    mutating func tryTake(of requestClass: RequestClass, at now: Instant) -> Bool {
        guard hasCall(at: now) else { return false }
        held -= 1
        isInDemand = true
        pace.note(requestClass, at: now)
        return true
    }

    /// True while a taken call may be made, which is until the end of its day.
    func isCurrent(epoch: Int, at now: Instant) -> Bool { epoch == self.epoch && day.map { now < $0.end } ?? false }

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

    mutating func ask(_ count: Int) {
        asked += count
    }

    /// Called when the log has answered. Clears the demand if no call waits and none was taken in the last `idle`.
    mutating func noteAnswer(at now: Instant) {
        if waiting == 0, pace.isIdle(at: now) { isInDemand = false }
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

/// The recent rate of one member's calls to a provider.
struct CallPace {
    private(set) var perSecond = 0.0
    /// The part of `perSecond` that comes from batch requests.
    private(set) var batchPerSecond = 0.0
    /// The calls since the last measurement.
    private var (calls, batchCalls) = (0, 0)
    private var measured: Instant
    private var lastCall: Instant

    init(at now: Instant) { (measured, lastCall) = (now, now) }

    mutating func note(_ requestClass: RequestClass, at now: Instant) {
        calls += 1
        if requestClass == .batch { batchCalls += 1 }
        lastCall = now
    }

    /// Updates the rates. They follow the calls within a second or two, and are zero after a pause.
    mutating func measure(at now: Instant) {
        let time = measured.duration(to: now).inSeconds
        guard time >= 0.1 else { return }
        perSecond += (Double(calls) / time - perSecond) * min(1, time)
        batchPerSecond += (Double(batchCalls) / time - batchPerSecond) * min(1, time)
        if calls == 0, isIdle(at: now) { (perSecond, batchPerSecond) = (0, 0) }
        (calls, batchCalls, measured) = (0, 0, now)
    }

    /// True if no call was made for a while.
    func isIdle(at now: Instant) -> Bool { lastCall.duration(to: now) >= BudgetTerms.idle }
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
