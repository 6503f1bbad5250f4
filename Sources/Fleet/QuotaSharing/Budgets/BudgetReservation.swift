public import Basics

/// The units of one account that one member has reserved and not used.
struct BudgetReservation {
    /// The current period; `nil` before the first tick.
    private(set) var period: BudgetPeriod?
    /// Counts the periods that have begun, so that a call of one period cannot count for the next.
    private(set) var epoch = 0
    /// The reserved units, which may be used at once.
    private(set) var held = 0
    /// The units requested in messages that have not been read back.
    private(set) var asked = 0
    /// The units of waiting calls.
    var waiting = 0 {
        didSet { if waiting > 0 { isInDemand = true } }
    }
    /// The units of waiting batch calls.
    var waitingBatch = 0
    /// True if a call was made or waited since the log last answered, or shortly before.
    private(set) var isInDemand = false
    /// The used units that are not reported, by period and kind.
    private(set) var made: [String: [String: Int]] = [:]
    /// The time since which `made` has not been empty.
    private(set) var madeSince: Instant?
    var pace: CallPace

    init(at now: Instant) { pace = CallPace(at: now) }

    /// Returns the units of waiting calls, with or without those of batch requests.
    func waiting(withBatch: Bool) -> Int { withBatch ? waiting : waiting - waitingBatch }

    // MARK: - Calls

    /// True if this many units are reserved.
    func has(_ units: Int, at now: Instant) -> Bool { held >= units && period.map { now < $0.end } ?? false }

    /// Takes the units of a call, if they are reserved.
    mutating func tryTake(_ units: Int, of requestClass: RequestClass, at now: Instant) -> Bool {
        guard has(units, at: now) else { return false }
        held -= units
        isInDemand = true
        pace.note(units, of: requestClass, at: now)
        return true
    }

    /// Returns a call that was not made. A call of another period has expired.
    mutating func putBack(_ units: Int, epoch: Int) {
        if epoch == self.epoch { held += units }
    }

    mutating func noteMade(_ units: Int, as kind: String, epoch: Int, at now: Instant) {
        guard let period = epoch == self.epoch ? period?.label : previousPeriod else { return }
        made[period, default: [:]][kind, default: 0] += units
        if madeSince == nil { madeSince = now }
    }

    private var previousPeriod: String?

    // MARK: - The period

    /// Begins a period. What is reserved of the previous period expires.
    mutating func begin(_ period: BudgetPeriod) {
        defer { self.period = period }
        guard period.label != self.period?.label else { return }
        previousPeriod = self.period?.label
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

    /// Removes units that are to be returned.
    /// - Returns: the number of units removed.
    mutating func remove(_ count: Int) -> Int {
        let removed = min(count, held)
        held -= removed
        return removed
    }

    /// Removes and returns what is to be reported.
    mutating func takeMade() -> [String: [String: Int]] {
        defer { (made, madeSince) = ([:], nil) }
        return made
    }

    /// Applies the grant to a message of this member.
    mutating func receive(_ granted: Int, askedFor take: Int, on period: String) {
        guard period == self.period?.label else { return }
        asked = max(0, asked - take)
        held += granted
    }

    /// Undoes a message of this member that will never be read.
    mutating func restore(_ entry: BudgetMessage.Entry, at now: Instant) {
        if !entry.made.isEmpty {
            made[entry.period, default: [:]].merge(entry.made, uniquingKeysWith: +)
            if madeSince == nil { madeSince = now }
        }
        guard entry.period == period?.label else { return }
        asked = max(0, asked - entry.take)
        held += entry.giveBack
    }
}

/// The recent rate at which one member's calls use an account, in units.
struct CallPace {
    private(set) var perSecond = 0.0
    /// The part of `perSecond` that comes from batch requests.
    private(set) var batchPerSecond = 0.0
    /// The units since the last measurement.
    private var (units, batchUnits) = (0, 0)
    private var measured: Instant
    private var lastCall: Instant

    init(at now: Instant) { (measured, lastCall) = (now, now) }

    mutating func note(_ units: Int, of requestClass: RequestClass, at now: Instant) {
        self.units += units
        if requestClass == .batch { batchUnits += units }
        lastCall = now
    }

    /// Updates the rates. They follow the calls within a second or two, and are zero after a pause.
    mutating func measure(at now: Instant) {
        let time = measured.duration(to: now).inSeconds
        guard time >= 0.1 else { return }
        perSecond += (Double(units) / time - perSecond) * min(1, time)
        batchPerSecond += (Double(batchUnits) / time - batchPerSecond) * min(1, time)
        if units == 0, isIdle(at: now) { (perSecond, batchPerSecond) = (0, 0) }
        (units, batchUnits, measured) = (0, 0, now)
    }

    /// True if no call was made for a while.
    func isIdle(at now: Instant) -> Bool { lastCall.duration(to: now) >= BudgetTerms.idle }
}

/// A period of a provider's billing calendar, by the clock of one member.
public struct BudgetPeriod: Sendable, Hashable {
    /// The period, such as `2026-11-23` or `2026-11`.
    public let label: String
    /// The start of the next period.
    public let end: Instant

    public init(label: String, end: Instant) {
        self.label = label
        self.end = end
    }
}
