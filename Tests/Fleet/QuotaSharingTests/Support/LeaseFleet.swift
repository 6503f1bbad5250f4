import Basics
import QuotaSharing
import Resilience
import TestSupport

/// Members that share one limit by demand, in steps of 5 ms. They have equal numbers of partitions.
final class LeaseFleet {
    static let limit = "a key"
    private static let step = Duration.milliseconds(5)

    let members: [LeaseMember]
    private(set) var now = Instant.now
    private(set) var elapsed = Duration.zero
    /// The sizes in bytes of all messages.
    private(set) var messages: [Int] = []
    /// The highest sum of the shares so far.
    private(set) var highestSum = 0.0
    /// Returns how long the copies of a message travel to one reader; none: the message is lost.
    var delays: () -> [Duration] = { [.milliseconds(20)] }
    /// Returns a member's demand at a tick, if it is not set by `setDemand`.
    var demandAtTick: ((_ member: Int, _ now: Instant) -> LimitDemand)?
    /// The owner of each partition.
    private(set) var owners: [Int]
    private var demands: [LimitDemand]
    private var inboxes: [[(due: Instant, message: LeaseMessage)]]
    private var nextTicks: [Instant]
    private var stoppedUntil: [Instant]

    init(of count: Int, partitions: Int = 12) {
        members = (0..<count).map { [now] in LeaseMember(name: "m\($0)", limits: [Self.limit], at: now) }
        owners = (0..<partitions).map { $0 % count }
        demands = Array(repeating: .none, count: count)
        inboxes = Array(repeating: [], count: count)
        (nextTicks, stoppedUntil) = (Array(repeating: now, count: count), Array(repeating: now, count: count))
        for index in members.indices { assign(to: index) }
    }

    // MARK: - Partitions

    /// Moves a partition. Its former owner gives it up before the new one has it.
    func move(_ partition: Int, to index: Int) {
        let former = owners[partition]
        owners[partition] = index
        for changed in [former, index] { assign(to: changed) }
    }

    /// Assigns its partitions to a member, or revokes all of them.
    func assign(to index: Int, areRevoked: Bool = false) {
        let own = owners.indices.filter { owners[$0] == index && !areRevoked }.map { Int32($0) }
        members[index].assign(own, of: owners.count, at: now)
    }

    // MARK: - Running

    func run(until seconds: Double) {
        while elapsed < .seconds(seconds) { step() }
    }

    func step() {
        (now, elapsed) = (now + Self.step, elapsed + Self.step)
        for index in members.indices where now >= stoppedUntil[index] { step(index) }
        let sum = members.indices.reduce(0) { now >= stoppedUntil[$1] ? $0 + share(of: $1) : $0 }
        highestSum = max(highestSum, sum)
    }

    private func step(_ index: Int) {
        let due = inboxes[index].filter { $0.due <= now }
        inboxes[index].removeAll { $0.due <= now }
        for entry in due { members[index].receive(entry.message, at: now) }
        guard !due.isEmpty || now >= nextTicks[index] else { return }

        if let demandAtTick { setDemand(demandAtTick(index, now), of: index) }
        if let message = members[index].tick(at: now) { publish(message, by: index) }
        nextTicks[index] = now + members[index].nextTick
    }

    private func publish(_ message: LeaseMessage, by sender: Int) {
        messages.append(FleetCodec(fleet: "workers/requests").bytes(of: .shares(message)).count)
        for reader in members.indices where reader != sender {
            for delay in delays() { inboxes[reader].append((now + delay, message)) }
        }
    }

    /// Suspends a member: it neither ticks nor reads meanwhile.
    func stop(_ index: Int, for time: Duration) { stoppedUntil[index] = now + time }

    // MARK: - Demand and shares

    func setDemand(_ demand: LimitDemand, of index: Int) {
        demands[index] = demand
        members[index].setDemand(demand, of: Self.limit)
    }

    func setDemand(_ demand: Double, of index: Int) { setDemand(LimitDemand(demand), of: index) }

    /// Returns the share that a member may use now.
    func share(of index: Int) -> Double { members[index].loopShare(of: Self.limit, at: now).share }

    /// The used part of the limit: each member's usable share, up to its demand.
    var used: Double { members.indices.reduce(0) { $0 + min(demands[$1].total, share(of: $1)) } }
}

enum UnreliableTopic {
    /// Returns the delays of a topic that loses and duplicates messages, and passes some on late and out of order.
    static func delays(_ seed: UInt64, upTo most: Int) -> () -> [Duration] {
        var random = SplitMix64(state: seed)
        return {
            let copies = [0, 1, 1, 1, 1, 1, 1, 1, 1, 2].randomElement(using: &random) ?? 1
            return (0..<copies).map { _ in
                .milliseconds(
                    Int.random(in: 0..<10, using: &random) > 0 ? 20 : Int.random(in: 0...most, using: &random))
            }
        }
    }
}
