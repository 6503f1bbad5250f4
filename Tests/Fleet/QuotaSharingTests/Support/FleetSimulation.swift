import Basics
import QuotaSharing
import Resilience
import TestSupport

/// A fleet in virtual time: members, the topic between them, the group that assigns partitions, and faults.
///
/// One seed is one schedule. After each event, and whenever a share grows without one, the usable shares of all members are summed
/// up: `highestSum` must never exceed 1.
struct FleetSimulation {
    /// The faults of a schedule. Times are in seconds.
    struct Conditions {
        var members = 2...6
        var partitions = 12
        var seconds = 20.0
        /// The delay of a message to each reader.
        var delay = 0.002...0.05
        /// Fractions of all deliveries.
        var lost = 0.0
        var doubled = 0.0
        var late = 0.0
        /// The delay of a late delivery.
        var lateness = 0.5...4.0
        /// The number of incidents per second: a member is stopped for a while, killed, leaves or joins.
        var incidents = 0.0
        /// The largest drift of clocks, as a fraction.
        var drift = 0.005
        /// The largest initial difference of clocks.
        var offset = 60.0
        /// The session timeout of the group.
        var session = 6.0
        /// The time that a removed member takes to notice it once it runs again.
        var noticing = 0.0...1.5
        /// The number of changes of demand, per member and second.
        var demandChanges = 0.2
        /// True where demand is by class and by tenants.
        var hasClasses = false
        var terms = LeaseTimes()
        /// The number of events after which the shares are summed up: 1, except for large fleets.
        var eventsPerCheck = 1
    }

    enum Event {
        case tick(Int)
        case deliver(LeaseMessage, to: Int)
        case assign([Int32], to: Int)
        /// The group revokes partitions, and assigns them again after that is acknowledged.
        case rebalance
        case demand(Int)
        case incident
        case stop(Int, until: Double)
        case resume(Int)
        /// The group removes a member that was stopped for too long.
        case giveUp(Int)
        /// A removed member has noticed it, and joins again without partitions.
        case rejoin(Int)
        case check
    }

    /// A member and its simulated environment.
    final class Process {
        let member: LeaseMember
        let offset: Double
        let drift: Double
        var isRunning = true
        var isStopped = false
        /// The partitions that the member believes to own.
        var believes: Set<Int32> = []
        /// Events that came while it was stopped.
        var waiting: [Event] = []
        var isMemberOfGroup = true
        var demand = LimitDemand.none

        init(_ member: LeaseMember, offset: Double, drift: Double) {
            self.member = member
            self.offset = offset
            self.drift = drift
        }
    }

    static let limit = "a key"

    let conditions: Conditions
    private(set) var processes: [Process] = []
    private(set) var now = 0.0
    /// The highest sum of shares so far, and its time.
    private(set) var highestSum = (share: 0.0, at: 0.0)
    private(set) var messages = 0
    private var events = 0
    /// Called for each published message.
    var onMessage: (LeaseMessage) -> Void = { _ in }
    private var random: SplitMix64
    /// True if each rebalance revokes all partitions of all members first, as Kafka's older assignors do.
    private let isEager: Bool
    private var queue = EventQueue<Event>()
    /// The group's owner of each partition.
    private var owners: [Int32: Int] = [:]
    private let begin: Instant

    init(seed: UInt64, _ conditions: Conditions = Conditions()) {
        self.conditions = conditions
        random = SplitMix64(state: seed)
        begin = .now
        isEager = Bool.random(using: &random)

        let count = Int.random(in: conditions.members, using: &random)
        for _ in 0..<count { join() }
        if conditions.incidents > 0 { queue.add(.incident, at: pause(perSecond: conditions.incidents)) }
        queue.add(.rebalance, at: 0)
    }

    // MARK: - Clocks

    private func clock(of process: Process) -> Instant {
        begin + .seconds(process.offset + now * (1 + process.drift))
    }

    private mutating func pause(perSecond rate: Double) -> Double {
        now + Double.random(in: 0.2...1.8, using: &random) / rate
    }

    // MARK: - Running

    /// Runs the schedule to `end`, or to its own end.
    mutating func run(until end: Double? = nil) {
        let end = end ?? conditions.seconds
        while let (time, event) = queue.next(before: end) {
            now = max(now, time)
            handle(event)
            check()
        }
        now = end
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .tick(let index): tick(index)
        case .deliver(let message, to: let index): deliver(message, to: index)
        case .assign(let partitions, to: let index): assign(partitions, to: index)
        case .rebalance: rebalance()
        case .demand(let index): changeDemand(of: index)
        case .incident: incident()
        case .stop(let index, let until): stop(index, until: until)
        case .resume(let index): resume(index)
        case .giveUp(let index): giveUp(index)
        case .rejoin(let index): rejoin(index)
        case .check: break
        }
    }

    private mutating func check() {
        events += 1
        guard events % conditions.eventsPerCheck == 0 else { return }
        var sum = 0.0
        for process in processes where process.isRunning && !process.isStopped {
            sum += process.member.share(of: Self.limit, at: clock(of: process))
        }
        if sum > highestSum.share { highestSum = (sum, now) }
    }

    // MARK: - Members

    private mutating func join() {
        let index = processes.count
        let drift = Double.random(in: -conditions.drift...conditions.drift, using: &random)
        let offset = Double.random(in: 0...conditions.offset, using: &random)
        let clock = begin + .seconds(offset + now * (1 + drift))
        let member = LeaseMember(name: "m\(index)", limits: [Self.limit], terms: conditions.terms, at: clock)
        processes.append(Process(member, offset: offset, drift: drift))
        queue.add(.tick(index), at: now + Double.random(in: 0...0.2, using: &random))
        if conditions.demandChanges > 0 { queue.add(.demand(index), at: now) }
    }

    private mutating func tick(_ index: Int) {
        let process = processes[index]
        guard process.isRunning else { return }
        guard !process.isStopped else { return process.waiting.append(.tick(index)) }

        publishIfDue(index)
        queue.add(.tick(index), at: now + 0.1875 * Double.random(in: 0.8...1.1, using: &random))
    }

    private mutating func publishIfDue(_ index: Int) {
        let process = processes[index]
        if let message = process.member.tick(at: clock(of: process)) { send(message, from: index) }
    }

    private mutating func send(_ message: LeaseMessage, from sender: Int) {
        messages += 1
        onMessage(message)
        for reader in processes.indices where processes[reader].isRunning && reader != sender {
            if Double.random(in: 0..<1, using: &random) < conditions.lost { continue }
            let copies = Double.random(in: 0..<1, using: &random) < conditions.doubled ? 2 : 1
            for _ in 0..<copies {
                let isLate = Double.random(in: 0..<1, using: &random) < conditions.late
                let delay = Double.random(in: isLate ? conditions.lateness : conditions.delay, using: &random)
                queue.add(.deliver(message, to: reader), at: now + delay)
            }
        }
    }

    private mutating func deliver(_ message: LeaseMessage, to index: Int) {
        let process = processes[index]
        guard process.isRunning else { return }
        guard !process.isStopped else { return process.waiting.append(.deliver(message, to: index)) }

        process.member.receive(message, at: clock(of: process))
        publishIfDue(index)
    }

    // MARK: - The group

    /// Assigns the partitions evenly. Each running owner revokes first; the next one gets the partition a while later.
    private mutating func rebalance() {
        let members = processes.indices.filter { processes[$0].isRunning && processes[$0].isMemberOfGroup }
        guard !members.isEmpty else { return }

        var losses: [Int: Set<Int32>] = [:]
        var gains: [Int: Set<Int32>] = [:]
        var mustWait = false
        for partition in 0..<Int32(conditions.partitions) {
            let next = members[Int(partition) % members.count]
            guard owners[partition] != next else { continue }
            if let former = owners[partition] {
                // The group waits for an unresponsive member until it removes it.
                if processes[former].isStopped, processes[former].isMemberOfGroup {
                    mustWait = true
                    continue
                }
                losses[former, default: []].insert(partition)
            }
            gains[next, default: []].insert(partition)
            owners[partition] = next
        }

        for index in members where !processes[index].isStopped {
            let kept = processes[index].believes.subtracting(losses[index] ?? [])
            if isEager {
                gains[index, default: []].formUnion(kept)
                setAssignment(of: index, to: [])
            } else if losses[index] != nil {
                setAssignment(of: index, to: kept)
            }
        }
        if mustWait { queue.add(.rebalance, at: now + 0.3) }
        let handover = now + Double.random(in: 0.01...0.5, using: &random)
        for index in gains.keys.sorted() {
            queue.add(.assign(Array(gains[index] ?? []).sorted(), to: index), at: handover)
        }
    }

    private mutating func assign(_ partitions: [Int32], to index: Int) {
        let process = processes[index]
        guard process.isRunning, process.isMemberOfGroup else { return }
        guard !process.isStopped else { return process.waiting.append(.assign(partitions, to: index)) }

        // Partitions that were assigned to another member meanwhile are not given to this one.
        let still = partitions.filter { owners[$0] == index }
        setAssignment(of: index, to: process.believes.union(still))
    }

    private mutating func setAssignment(of index: Int, to partitions: Set<Int32>, wasTaken: Bool = false) {
        let process = processes[index]
        process.believes = partitions
        process.member.assign(
            partitions.sorted(), of: conditions.partitions, wasTaken: wasTaken, at: clock(of: process))
        // A share grows without an event when its partitions have settled.
        for delay in [2.25, 2.3, 2.35] { queue.add(.check, at: now + delay) }
    }

    // MARK: - Faults

    private mutating func incident() {
        queue.add(.incident, at: pause(perSecond: conditions.incidents))
        let running = processes.indices.filter { processes[$0].isRunning && !processes[$0].isStopped }
        guard let index = running.randomElement(using: &random) else { return join() }

        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5:
            let time =
                Bool.random(using: &random)
                ? Double.random(in: 0.1...2, using: &random) : Double.random(in: 2...12, using: &random)
            stop(index, until: now + time)
        case 5, 6: end(index, orderly: false)
        case 7: end(index, orderly: true)
        default:
            guard running.count < conditions.members.upperBound else { return }
            join()
            queue.add(.rebalance, at: now + 0.1)
        }
    }

    private mutating func stop(_ index: Int, until time: Double) {
        let process = processes[index]
        process.isStopped = true
        // Its last heartbeat was some time before it was stopped.
        let givenUp = now + conditions.session * Double.random(in: 0.5...1, using: &random)
        if givenUp < time { queue.add(.giveUp(index), at: givenUp) }
        queue.add(.resume(index), at: time)
    }

    private mutating func giveUp(_ index: Int) {
        processes[index].isMemberOfGroup = false
        rebalance()
    }

    /// A removed member goes on with the partitions that it believes to own until its client notices.
    private mutating func resume(_ index: Int) {
        let process = processes[index]
        guard process.isRunning else { return }
        process.isStopped = false
        if !process.isMemberOfGroup {
            queue.add(.rejoin(index), at: now + Double.random(in: conditions.noticing, using: &random))
        }

        let waiting = process.waiting.shuffled(using: &random)
        process.waiting = []
        check()
        for event in waiting {
            handle(event)
            check()
        }
    }

    private mutating func rejoin(_ index: Int) {
        let process = processes[index]
        guard process.isRunning else { return }
        guard !process.isStopped else { return process.waiting.append(.rejoin(index)) }
        setAssignment(of: index, to: [], wasTaken: true)
        process.isMemberOfGroup = true
        rebalance()
    }

    private mutating func end(_ index: Int, orderly: Bool) {
        let process = processes[index]
        if orderly { send(process.member.leave(at: clock(of: process)), from: index) }
        process.isRunning = false
        process.isMemberOfGroup = false
        queue.add(.rebalance, at: now + (orderly ? 0.05 : conditions.session))
    }

    // MARK: - Demand

    private mutating func changeDemand(of index: Int) {
        let process = processes[index]
        guard process.isRunning else { return }
        queue.add(.demand(index), at: pause(perSecond: conditions.demandChanges))

        let total = [0, 0, 1, 1, Double.random(in: 0...0.4, using: &random)].randomElement(using: &random) ?? 0
        guard conditions.hasClasses else { return setDemand(total, of: index) }
        let part = [0, 0, 1, Double.random(in: 0...1, using: &random)].randomElement(using: &random) ?? 0
        let demand = LimitDemand(
            total, interactive: total * part, interactiveTenants: [1, 1, 9].randomElement(using: &random) ?? 1,
            batchTenants: [1, 1, 9].randomElement(using: &random) ?? 1)
        setDemand(demand, of: index)
    }

    mutating func setDemand(_ demand: Double, of index: Int) { setDemand(LimitDemand(demand), of: index) }

    mutating func setDemand(_ demand: LimitDemand, of index: Int) {
        processes[index].demand = demand
        processes[index].member.setDemand(demand, of: Self.limit)
    }

    /// The used part of the limit: each member's usable share, up to its demand.
    var used: Double {
        processes.reduce(0) { sum, process in
            guard process.isRunning, !process.isStopped else { return sum }
            return sum + min(process.demand.total, process.member.share(of: Self.limit, at: clock(of: process)))
        }
    }

    /// Returns the share that a member may use now.
    func share(of index: Int) -> Double {
        processes[index].member.share(of: Self.limit, at: clock(of: processes[index]))
    }
}

/// Events by their times; those of one time in the order in which they were added.
struct EventQueue<Event> {
    private var heap: [(time: Double, number: Int, event: Event)] = []
    private var added = 0

    mutating func add(_ event: Event, at time: Double) {
        added += 1
        heap.append((time, added, event))
        var child = heap.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func next(before end: Double) -> (Double, Event)? {
        guard let first = heap.first, first.time < end else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()

        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, least) {
                least = child
            }
            guard least != parent else { return (first.time, first.event) }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        (heap[a].time, heap[a].number) < (heap[b].time, heap[b].number)
    }
}
