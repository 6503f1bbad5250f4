import Basics
import TestSupport

@testable import QuotaSharing

/// A fleet with a daily budget in virtual time: members, the log between them, and faults.
///
/// One seed is one schedule. After each event `problem` describes a broken rule, if there is one: a day with more calls than its
/// budget, or two members that have read the same records and do not agree.
struct BudgetSimulation {
    /// The faults of a schedule. Times are in seconds.
    struct Conditions {
        var members = 1...6
        var seconds = 60.0
        var day = 20.0
        var budget = 300
        /// The delay of a record on its way to the log, and from there to a reader.
        var delay = 0.002...0.03
        /// Fractions of all messages.
        var lost = 0.0
        var doubled = 0.0
        var late = 0.0
        var lateness = 0.5...6.0
        /// The number of incidents per second: a member is stopped for a while, killed, leaves or joins.
        var incidents = 0.0
        /// True if members may be killed and may leave; otherwise they may only be stopped.
        var ends = true
        /// The largest initial difference of clocks, including those that determine the day.
        var skew = 1.0
        /// The demand of a member in calls per second.
        var demand = 0.0...40.0
        /// The time after which there is no demand.
        var quietFrom = Double.infinity
        var mostWaiting = 30
        /// The number of the newest records that the log keeps.
        var retention = 150
        var history: Int64 = 25
        var terms: BudgetTerms = {
            var terms = BudgetTerms()
            terms.snapshotRecords = 20
            return terms
        }()
    }

    enum Event {
        case tick(Int)
        case arrive(BudgetMessage)
        case read(Int)
        case call(Int)
        case demand(Int)
        case incident
        case resume(Int)
    }

    final class Process {
        let member: BudgetMember
        let skew: Double
        var isRunning = true
        var isStopped = false
        var next: Int64 = 0
        var waiting = 0
        var demand = 0.0
        var label = ""
        /// Events that came while it was stopped.
        var missed: [Event] = []

        init(_ member: BudgetMember, skew: Double) {
            self.member = member
            self.skew = skew
        }
    }

    static let provider = "p"

    let conditions: Conditions
    private(set) var processes: [Process] = []
    private(set) var now = 0.0
    /// The number of calls made, by day.
    private(set) var calls: [String: Int] = [:]
    /// The first broken rule.
    private(set) var problem: String?
    private(set) var messages = 0
    private(set) var warnings = 0
    private var log: [BudgetMessage] = []
    private var random: SplitMix64
    private var queue = EventQueue<Event>()
    private let begin: Instant
    /// The state of the first member that had read up to an offset.
    private var states: [Int64: [String: [String: BudgetLedger.Day]]] = [:]

    init(seed: UInt64, _ conditions: Conditions = Conditions()) {
        self.conditions = conditions
        random = SplitMix64(state: seed)
        begin = .now
        for _ in 0..<Int.random(in: conditions.members, using: &random) { join() }
        if conditions.incidents > 0 { queue.add(.incident, at: pause(perSecond: conditions.incidents)) }
    }

    // MARK: - Running

    mutating func run(until end: Double? = nil) {
        let end = end ?? conditions.seconds
        while problem == nil, let (time, event) = queue.next(before: end) {
            now = max(now, time)
            handle(event)
        }
        now = end
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .tick(let index): tick(index)
        case .arrive(let message): arrive(message)
        case .read(let index): read(index)
        case .call(let index): call(index)
        case .demand(let index): changeDemand(of: index)
        case .incident: incident()
        case .resume(let index): resume(index)
        }
    }

    private mutating func pause(perSecond rate: Double) -> Double {
        now + Double.random(in: 0.2...1.8, using: &random) / rate
    }

    private func clock(of process: Process) -> Instant { begin + .seconds(now + process.skew) }

    private static func label(_ day: Int) -> String { "day " + "\(1000 + day)" }

    // MARK: - Members

    private mutating func join() {
        let index = processes.count
        let skew = Double.random(in: 0...conditions.skew, using: &random)
        let member = BudgetMember(
            name: "m\(index)", budgets: [Self.provider: conditions.budget], terms: conditions.terms,
            at: begin + .seconds(now + skew))
        let process = Process(member, skew: skew)
        processes.append(process)

        let oldest = max(0, Int64(log.count - conditions.retention))
        beginReading(process, from: max(oldest, Int64(log.count) - conditions.history), oldest: oldest)
        queue.add(.tick(index), at: now + Double.random(in: 0...0.2, using: &random))
        queue.add(.read(index), at: now)
        queue.add(.demand(index), at: now)
    }

    private func beginReading(_ process: Process, from first: Int64, oldest: Int64) {
        process.next = first
        process.member.begin(
            FleetTopicExtent(first: first, end: Int64(log.count), oldest: oldest), at: clock(of: process))
    }

    /// - Returns: the process, if it runs now; an event for a stopped one is kept for later.
    private func running(_ index: Int, or event: Event) -> Process? {
        let process = processes[index]
        guard process.isRunning else { return nil }
        guard process.isStopped else { return process }
        process.missed.append(event)
        return nil
    }

    private mutating func tick(_ index: Int) {
        guard let process = running(index, or: .tick(index)) else { return }
        publishIfDue(process)
        queue.add(.tick(index), at: now + 0.1875 * Double.random(in: 0.8...1.1, using: &random))
    }

    private mutating func publishIfDue(_ process: Process) {
        setDay(process)
        process.member.setWaiting(process.waiting, of: 0)
        if let message = process.member.tick(at: clock(of: process)) { send(message) }
        warnings += process.member.takeWarnings().count
    }

    private func setDay(_ process: Process) {
        let day = Int((now + process.skew) / conditions.day)
        process.label = Self.label(day)
        let end = begin + .seconds(Double(day + 1) * conditions.day)
        process.member.setDay(BudgetDay(label: process.label, end: end), of: Self.provider)
    }

    private mutating func send(_ message: BudgetMessage) {
        messages += 1
        if chance(conditions.lost) { return }
        for _ in 0..<(chance(conditions.doubled) ? 2 : 1) {
            let range = chance(conditions.late) ? conditions.lateness : conditions.delay
            queue.add(.arrive(message), at: now + Double.random(in: range, using: &random))
        }
    }

    private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    // MARK: - The log

    private mutating func arrive(_ message: BudgetMessage) {
        log.append(message)
        for index in processes.indices where processes[index].isRunning {
            queue.add(.read(index), at: now + Double.random(in: conditions.delay, using: &random))
        }
    }

    private mutating func read(_ index: Int) {
        guard let process = running(index, or: .read(index)) else { return }

        for offset in process.next..<max(process.next, Int64(log.count)) {
            process.member.read(log[Int(offset)], at: offset, now: clock(of: process))
            process.next = offset + 1
            check(process)
        }
        if process.member.needsOlderRecords {
            let oldest = max(0, Int64(log.count - conditions.retention))
            beginReading(process, from: oldest, oldest: oldest)
            queue.add(.read(index), at: now)
        }
        serve(index)
        publishIfDue(process)
    }

    /// Checks that all members that have read the same records have the same state.
    private mutating func check(_ process: Process) {
        guard process.member.isReady else { return }
        let days = process.member.ledger.days
        if let known = states[process.next] {
            if known != days { problem = "members disagree at \(process.next): \(known), \(days)" }
        } else {
            states[process.next] = days
        }
        for (label, day) in days[Self.provider] ?? [:] where day.used > day.taken {
            problem = "\(day.used) calls told of on \(label), of \(day.taken) reserved"
        }
    }

    // MARK: - Calls

    private mutating func changeDemand(of index: Int) {
        guard processes[index].isRunning else { return }
        queue.add(.demand(index), at: now + Double.random(in: 1...6, using: &random))
        let before = processes[index].demand
        processes[index].demand =
            now >= conditions.quietFrom || chance(0.3) ? 0 : Double.random(in: conditions.demand, using: &random)
        if before == 0, processes[index].demand > 0 { queue.add(.call(index), at: now) }
    }

    private mutating func call(_ index: Int) {
        guard let process = running(index, or: .call(index)), process.demand > 0, now < conditions.quietFrom
        else { return }
        queue.add(.call(index), at: pause(perSecond: process.demand))
        guard process.waiting < conditions.mostWaiting else { return }
        process.waiting += 1
        serve(index)
        publishIfDue(process)
    }

    private mutating func serve(_ index: Int) {
        let process = processes[index]
        while process.waiting > 0, let epoch = process.member.tryTake(0, at: clock(of: process)) {
            if chance(0.1) {
                process.member.putBack(0, epoch: epoch)
                continue
            }
            process.waiting -= 1
            process.member.noteMade(0, kind: "search", epoch: epoch, at: clock(of: process))
            calls[process.label, default: 0] += 1
            if let made = calls[process.label], made > conditions.budget {
                problem = "\(made) calls on \(process.label) at \(now) s"
            }
        }
    }

    // MARK: - Faults

    private mutating func incident() {
        queue.add(.incident, at: pause(perSecond: conditions.incidents))
        let running = processes.indices.filter { processes[$0].isRunning && !processes[$0].isStopped }
        guard let index = running.randomElement(using: &random) else { return join() }

        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: stop(index)
        case 4, 5: if conditions.ends { processes[index].isRunning = false } else { stop(index) }
        case 6: if conditions.ends { leave(index) } else { stop(index) }
        default: if running.count < conditions.members.upperBound { join() }
        }
    }

    private mutating func stop(_ index: Int) {
        processes[index].isStopped = true
        queue.add(.resume(index), at: now + Double.random(in: 0.1...8, using: &random))
    }

    private mutating func leave(_ index: Int) {
        if let message = processes[index].member.leave(at: clock(of: processes[index])) { send(message) }
        processes[index].isRunning = false
    }

    /// Handles the missed events in random order: a call may come before the end of the day is noticed.
    private mutating func resume(_ index: Int) {
        let process = processes[index]
        process.isStopped = false
        let missed = process.missed.shuffled(using: &random)
        process.missed = []
        for event in missed { handle(event) }
    }
}
