import Basics
import Foundation
import QuotaSharing
import Resilience
import TestSupport
import Testing

/// A limit that a fleet shares by demand. The simulation of whole fleets checks the same under the faults of processes
/// and brokers: see docs/internals/fleet.md.
struct FleetSharingTests {
    static let shares: [(mode: FleetShare, assigned: Int, partitions: Int, share: Double)] = [
        (.byPartitions, 3, 12, 0.25), (.byPartitions, 0, 12, 0), (.byDemand, 12, 12, 1), (.byPartitions, 5, 0, 0),
        (.byPartitions, 9, 8, 1), (.perProcess(loops: 1), 0, 0, 1), (.perProcess(loops: 4), 3, 12, 0.25),
    ]

    @Test(arguments: shares)
    func `A worker has the share of its partitions`(mode: FleetShare, assigned: Int, partitions: Int, share: Double) {
        #expect(mode.value(assigned: assigned, of: partitions) == share)
    }

    /// Messages are lost, duplicated, late and out of order, members are suspended, and partitions move.
    @Test(arguments: 1...40 as ClosedRange<UInt64>) func `Shares never sum to more than the limit`(seed: UInt64) {
        var random = SplitMix64(state: seed)
        let fleet = LeaseFleet(of: 4)
        fleet.delays = UnreliableTopic.delays(seed, upTo: 4000)

        for second in 1...30 {
            let member = Int.random(in: 0..<4, using: &random)
            let total = [0, 1, Double.random(in: 0...0.4, using: &random)].randomElement(using: &random) ?? 0
            let interactive = [0, total].randomElement(using: &random) ?? total
            fleet.setDemand(LimitDemand(total, interactive: interactive), of: member)
            if Bool.random(using: &random) {
                fleet.stop(member, for: .milliseconds(Int.random(in: 100...2000, using: &random)))
            }
            fleet.run(until: Double(second) - 0.5)

            fleet.move(Int.random(in: 0..<12, using: &random), to: Int.random(in: 0..<4, using: &random))
            fleet.run(until: Double(second))
        }
        #expect(fleet.highestSum <= 1 + 1e-9)
        #expect(fleet.highestSum > 0.8, "the limit is in use")
    }

    @Test func `A late grant does not replace a newer one`() throws {
        let fleet = LeaseFleet(of: 2)
        fleet.setDemand(1, of: 1)
        fleet.run(until: 4)
        let (lessor, lessee) = (fleet.members[0], fleet.members[1])
        var older: LeaseMessage?
        var now = fleet.now
        while older == nil {
            now += .milliseconds(50)
            older = lessor.tick(at: now)
        }
        #expect(lessee.loopShare(of: LeaseFleet.limit, at: fleet.now).share == 1)

        lessor.setDemand(LimitDemand(1), of: LeaseFleet.limit)
        var newer: LeaseMessage?
        while newer == nil {
            now += .milliseconds(50)
            newer = lessor.tick(at: now)
        }
        for message in [try #require(newer), try #require(older)] { lessee.receive(message, at: now) }
        #expect(lessee.loopShare(of: LeaseFleet.limit, at: now).share == 0.5)
    }

    /// A member that owns only partitions of other topics than the first one has requests but no share.
    @Test func `A member without a share waits while no member has quota to lease out`() {
        let fleet = LeaseFleet(of: 2, partitions: 1)
        let (owner, other) = (fleet.members[0], fleet.members[1])
        #expect(other.isSettling(at: fleet.now), "nobody has quota to lease out yet")
        fleet.setDemand(1, of: 0)
        fleet.run(until: 3.5)
        #expect(!owner.isSettling(at: fleet.now))
        #expect(other.isSettling(at: fleet.now), "the owner needs all that there is")

        fleet.setDemand(0.25, of: 0)
        fleet.run(until: 4.5)
        #expect(!other.isSettling(at: fleet.now), "its requests may begin, so that it has a demand")
        fleet.setDemand(1, of: 1)
        fleet.run(until: 5.5)
        #expect(fleet.share(of: 1) > 0.7)
        #expect(fleet.highestSum <= 1 + 1e-9)
    }

    /// A lessee whose messages stop has stopped using the lease before its lessor uses that share again.
    @Test func `A lessor reserves a lease for longer than it lasts`() throws {
        let fleet = LeaseFleet(of: 2)
        fleet.setDemand(1, of: 1)
        fleet.run(until: 4)
        #expect(fleet.share(of: 1) == 1)
        #expect(fleet.share(of: 0) == 0)

        // From now on no message arrives, and the lessor has demand.
        fleet.delays = { [] }
        fleet.setDemand(1, of: 0)
        var (leaseEnd, reservedUntil): (Duration?, Duration?)
        while fleet.elapsed < .seconds(8) {
            fleet.step()
            if leaseEnd == nil, fleet.share(of: 1) < 1 { leaseEnd = fleet.elapsed }
            if reservedUntil == nil, fleet.share(of: 0) > 0 { reservedUntil = fleet.elapsed }
        }
        #expect(try #require(leaseEnd) < #require(reservedUntil))
    }

    // MARK: - Use of the limit

    /// Runs a fleet of three, and returns the used part of the limit at each half second.
    private static func used(for seconds: Int, demand: (_ second: Double, _ member: Int) -> Double) -> [Double] {
        let fleet = LeaseFleet(of: 3)
        return (1...2 * seconds).map { half in
            let time = Double(half) / 2
            for member in 0..<3 { fleet.setDemand(demand(time - 0.5, member), of: member) }
            fleet.run(until: time)
            return fleet.used
        }
    }

    /// A member that has no demand for a lease returns it at once, so that its lessor need not wait for the end of the lease.
    @Test func `A lessee releases a lease for which it has no demand`() {
        let used = Self.used(for: 12) { second, member in
            // The demand moves from the first to the second member after six seconds; the third has none.
            (second < 6 ? 0 : 1) == member ? 1 : 0
        }
        #expect(used[13] > 0.99, "\(used)")
    }

    @Test(arguments: [[1, 1, 1], [1, 0.1, 0.1], [1, 0, 0], [0.5, 0.5, 0.02], [1, 1, 0]])
    func `Waiting work uses the limit from three seconds after the start`(demands: [Double]) {
        let used = Self.used(for: 20) { _, member in demands[member] }
        let averages = (6...used.count - 20).map { begin in used[begin..<begin + 20].reduce(0, +) / 20 }
        #expect(averages.allSatisfy { $0 > 0.95 }, "\(used)")
        #expect(used.dropFirst(10).allSatisfy { $0 > 0.99 }, "\(used)")
    }

    /// A new owner waits for 2.28 s, but only before it uses the partition that has moved. An eager assignor revokes all
    /// partitions, and most of them return to their owners.
    @Test(arguments: [true, false])
    func `Rebalances leave at least 95 % of the limit in use`(isEager: Bool) {
        let fleet = LeaseFleet(of: 3)
        for member in 0..<3 { fleet.setDemand(1, of: member) }
        fleet.run(until: 3)

        var used: [Double] = []
        func measure(for time: Duration) {
            let end = fleet.elapsed + time
            while fleet.elapsed < end {
                fleet.step()
                used.append(fleet.used)
            }
        }
        for partition in 0..<12 {
            if isEager {
                for member in 0..<3 { fleet.assign(to: member, areRevoked: true) }
                measure(for: .milliseconds(100))
            }
            fleet.move(partition, to: (fleet.owners[partition] + 1) % 3)
            for member in 0..<3 { fleet.assign(to: member) }
            measure(for: .seconds(10))
        }
        let average = used.reduce(0, +) / Double(used.count)
        #expect(average > 0.95, "\(average)")
        #expect(fleet.highestSum <= 1 + 1e-9)
    }

    @Test func `Load that moves to another member uses the limit three seconds later`() {
        let used = Self.used(for: 60) { second, member in Int(second / 5) % 3 == member ? 1 : 0 }
        for (half, share) in used.enumerated() where half % 10 >= 6 {
            #expect(share > 0.99, "\(Double(half) / 2) s: \(used)")
        }
    }

    @Test func `A lessor has its own share back within two seconds`() {
        let used = Self.used(for: 20) { second, member in member == 0 || second >= 10 ? 1 : 0 }
        #expect(used[24...].allSatisfy { $0 > 0.99 }, "\(used)")
    }

    @Test(arguments: [0.0, 0.05])
    func `A fleet without shortage publishes next to nothing`(demand: Double) {
        let fleet = LeaseFleet(of: 6)
        for member in 0..<6 { fleet.setDemand(demand, of: member) }
        fleet.run(until: 5)
        let before = fleet.messages.count
        fleet.run(until: 105)
        #expect(fleet.messages.count - before <= 6 * 10)
        #expect(fleet.messages.count - before >= 6 * 9, "a silent member would be taken for gone")
    }

    /// docs/internals/fleet.md contains the printed figures.
    @Test(.timeLimit(.minutes(60)), arguments: ["one of them has work", "half of them have", "none has"])
    func `A large fleet uses the limit within two seconds`(load: String) {
        let count = ProcessInfo.processInfo.environment["LOCSEARCH_FLEET_MEMBERS"].flatMap { Int($0) } ?? 24
        let fleet = LeaseFleet(of: count, partitions: count)
        fleet.run(until: 3)

        let workers = ["one of them has work": 1, "half of them have": count / 2][load] ?? 0
        for member in 0..<workers { fleet.setDemand(1, of: member) }
        var waits: [Double] = []
        for tenth in 1...20 {
            fleet.run(until: 3 + Double(tenth) / 10)
            if fleet.used > 0.99 { waits.append(Double(tenth) / 10) }
        }
        if workers > 0 { #expect(fleet.used > 0.99) }

        let before = fleet.messages.count
        fleet.run(until: 8)
        #expect(fleet.highestSum <= 1 + 1e-9)
        let late = fleet.messages.dropFirst(before)
        print(
            "measured: \(count) members, \(load): all used after \(waits.first.map { "\($0) s" } ?? "-"),",
            "\(late.count / 3) messages/s, \(late.reduce(0, +) / max(1, late.count)) bytes each")
    }
}
