import Basics
import Foundation
import QuotaSharing
import Resilience
import TestSupport
import Testing

/// A limit that a fleet shares by demand, in virtual time.
struct FleetSharingTests {
    /// Messages are lost, duplicated, late and out of order; members are stopped, killed, leave and join.
    private static let hostile: FleetSimulation.Conditions = {
        var conditions = FleetSimulation.Conditions()
        conditions.lost = 0.05
        conditions.doubled = 0.1
        conditions.late = 0.1
        conditions.incidents = 0.5
        return conditions
    }()

    @Test(.timeLimit(.minutes(60))) func sharesNeverSumToMoreThanTheLimit() {
        let seeds = Schedules.seeds(unlessSet: 300)
        var highest = 0.0

        for seed in seeds {
            var simulation = FleetSimulation(seed: seed, Self.hostile)
            simulation.run()

            let (share, time) = simulation.highestSum
            guard share <= 1 + 1e-9 else {
                Issue.record("\(share) of the limit at \(time) s: \(Schedules.again(seed))")
                return
            }
            highest = max(highest, share)
        }
        print("measured: never more than \((highest * 1e6).rounded() / 1e4) % of the limit in \(seeds.count) schedules")
    }

    /// The simulation must detect a broken rule, or the test above proves nothing.
    ///
    /// Here a member that the group has removed learns of it much later than a new owner waits.
    @Test func simulationSeesAMemberThatGoesOnWithWhatOthersHave() {
        var conditions = Self.hostile
        conditions.noticing = 4...6

        let isSeen = (1...100 as ClosedRange<UInt64>).contains { seed in
            var simulation = FleetSimulation(seed: seed, conditions)
            simulation.run()
            return simulation.highestSum.share > 1.01
        }
        #expect(isSeen)
    }

    /// A member that owns only partitions of other topics than the first one has requests but no share.
    @Test func memberWithoutAShareWaitsWhileNobodyHasQuotaToLeaseOut() {
        let limit = FleetSimulation.limit
        var now = Instant.now
        let owner = LeaseMember(name: "owner", limits: [limit], at: now)
        let other = LeaseMember(name: "other", limits: [limit], at: now)
        owner.assign([0, 1], of: 2, at: now)
        other.assign([], of: 2, at: now)

        func run(for time: Duration) {
            let end = now + time
            while now < end {
                now += .milliseconds(50)
                for (sender, receiver) in [(owner, other), (other, owner)] {
                    if let message = sender.tick(at: now) { receiver.receive(message, at: now) }
                }
            }
        }

        #expect(other.isSettling(at: now), "nobody has quota to lease out yet")
        owner.setDemand(LimitDemand(1), of: limit)
        run(for: LeaseTimes.settling + .seconds(1))
        #expect(!owner.isSettling(at: now))
        #expect(other.isSettling(at: now), "the owner needs all that there is")

        owner.setDemand(LimitDemand(0.25), of: limit)
        run(for: .seconds(1))
        #expect(!other.isSettling(at: now), "its requests may begin, so that it has a demand")
        other.setDemand(LimitDemand(1), of: limit)
        run(for: .seconds(1))
        #expect(other.share(of: limit, at: now) > 0.7)
        #expect(owner.share(of: limit, at: now) + other.share(of: limit, at: now) <= 1 + 1e-9)
    }

    /// A lessee whose messages stop has stopped using the lease before its lessor uses that share again.
    @Test func lessorReservesALeaseForLongerThanItLasts() throws {
        let limit = FleetSimulation.limit
        var now = Instant.now
        let lessor = LeaseMember(name: "lessor", limits: [limit], at: now)
        let lessee = LeaseMember(name: "lessee", limits: [limit], at: now)
        lessor.assign([0], of: 2, at: now)
        lessee.assign([1], of: 2, at: now)
        lessee.setDemand(LimitDemand(1), of: limit)

        // They exchange messages until everything is leased.
        let talkingEnds = now + .seconds(10)
        while lessee.share(of: limit, at: now) < 1, now < talkingEnds {
            if let message = lessee.tick(at: now) { lessor.receive(message, at: now) }
            if let message = lessor.tick(at: now) { lessee.receive(message, at: now) }
            now += .milliseconds(100)
        }
        #expect(lessee.share(of: limit, at: now) == 1)
        #expect(lessor.share(of: limit, at: now) == 0)

        // Then no message arrives any more, and the lessor has demand.
        lessor.setDemand(LimitDemand(1), of: limit)
        var (leaseEnd, reservedUntil): (Instant?, Instant?)
        let silenceEnds = now + .seconds(5)
        while now < silenceEnds {
            _ = (lessee.tick(at: now), lessor.tick(at: now))
            if leaseEnd == nil, lessee.share(of: limit, at: now) < 1 { leaseEnd = now }
            if reservedUntil == nil, lessor.share(of: limit, at: now) > 0 { reservedUntil = now }
            now += .milliseconds(1)
        }
        let (end, held) = (try #require(leaseEnd), try #require(reservedUntil))
        #expect(end < held)
    }

    /// A member that has no demand for a lease returns it at once, so that its lessor need not wait for the end of the lease.
    @Test func lesseeReleasesALeaseForWhichItHasNoDemand() {
        let used = Self.used(for: 12) { second, member in
            // The demand moves from the first to the second member after six seconds; the third has none.
            (second < 6 ? 0 : 1) == member ? 1 : 0
        }
        #expect(used[13] > 0.99, "\(used)")
    }

    // MARK: - Use of the limit

    /// Runs a fleet of three without faults, and returns the used part of the limit at each half second.
    private static func used(for seconds: Int, demand: (_ second: Double, _ member: Int) -> Double) -> [Double] {
        var conditions = FleetSimulation.Conditions()
        conditions.members = 3...3
        conditions.demandChanges = 0
        var simulation = FleetSimulation(seed: 1, conditions)

        return (1...2 * seconds).map { half in
            let time = Double(half) / 2
            for member in 0..<3 { simulation.setDemand(demand(time - 0.5, member), of: member) }
            simulation.run(until: time)
            return simulation.used
        }
    }

    /// Returns the least use in any ten seconds that begin at least three seconds after the start.
    private static func leastInTenSeconds(_ used: [Double]) -> Double {
        let averages = (6...used.count - 20).map { begin in used[begin..<begin + 20].reduce(0, +) / 20 }
        return averages.min() ?? 0
    }

    @Test(arguments: [[1, 1, 1], [1, 0.1, 0.1], [1, 0, 0], [0.5, 0.5, 0.02], [1, 1, 0]])
    func waitingWorkUsesTheLimitFromThreeSecondsAfterTheStart(demands: [Double]) {
        let used = Self.used(for: 20) { _, member in demands[member] }
        #expect(Self.leastInTenSeconds(used) > 0.95, "\(used)")
        #expect(used.dropFirst(10).allSatisfy { $0 > 0.99 }, "\(used)")
    }

    @Test func loadThatMovesFromMemberToMemberUsesTheLimitThreeSecondsLater() {
        let used = Self.used(for: 60) { second, member in Int(second / 5) % 3 == member ? 1 : 0 }
        for (half, share) in used.enumerated() where half % 10 >= 6 {
            #expect(share > 0.99, "\(Double(half) / 2) s: \(used)")
        }
    }

    @Test func lessorHasItsOwnShareBackWithinTwoSeconds() {
        let used = Self.used(for: 20) { second, member in member == 0 || second >= 10 ? 1 : 0 }
        #expect(used[24...].allSatisfy { $0 > 0.99 }, "\(used)")
    }

    @Test(arguments: [0.0, 0.05])
    func fleetWithoutShortagePublishesNextToNothing(demand: Double) {
        var conditions = FleetSimulation.Conditions()
        conditions.members = 6...6
        conditions.demandChanges = 0
        var simulation = FleetSimulation(seed: 1, conditions)
        for member in 0..<6 { simulation.setDemand(demand, of: member) }

        simulation.run(until: 5)
        let atStart = simulation.messages
        simulation.run(until: 105)
        #expect(simulation.messages - atStart <= 6 * 10)
        #expect(simulation.messages - atStart >= 6 * 9, "a silent member would be taken for gone")
    }

    // MARK: - Large fleets

    /// docs/internals/fleet.md contains the printed figures.
    @Test(.timeLimit(.minutes(60)), arguments: ["one of them has work", "half of them have", "none has"])
    func largeFleetUsesTheLimitWithinTwoSeconds(load: String) {
        let count = Schedules.members(unlessSet: 24)
        var conditions = FleetSimulation.Conditions()
        conditions.members = count...count
        conditions.partitions = count
        conditions.demandChanges = 0
        conditions.eventsPerCheck = 100 * count
        var simulation = FleetSimulation(seed: 1, conditions)
        simulation.run(until: 3)

        let said = Log<Int>()
        simulation.onMessage = { said.note(FleetCodec.bytes(of: .shares($0)).count) }
        let workers = ["one of them has work": 1, "half of them have": count / 2][load] ?? 0
        for member in 0..<workers { simulation.setDemand(1, of: member) }
        var waits: [Double] = []
        for tenth in 1...20 {
            simulation.run(until: 3 + Double(tenth) / 10)
            if simulation.used > 0.99 { waits.append(Double(tenth) / 10) }
        }
        if workers > 0 { #expect(simulation.used > 0.99) }

        let before = said.count
        simulation.run(until: 8)
        #expect(simulation.highestSum.share <= 1 + 1e-9)
        let late = said.entries.dropFirst(before)
        print(
            "measured: \(count) members, \(load): all used after \(waits.first.map { "\($0) s" } ?? "-"),",
            "\(late.count / 3) messages/s, \(late.reduce(0, +) / max(1, late.count)) bytes each")
    }
}
