import Basics
import TestSupport
import Testing

@testable import QuotaSharing
@testable import Resilience

struct FleetShareTests {
    static let shares: [(mode: FleetShare, assigned: Int, partitions: Int, share: Double)] = [
        (.byPartitions, 3, 12, 0.25), (.byPartitions, 0, 12, 0), (.byDemand, 12, 12, 1), (.byPartitions, 5, 0, 0),
        (.byPartitions, 9, 8, 1),
        (.perProcess(loops: 1), 0, 0, 1), (.perProcess(loops: 4), 3, 12, 0.25),
    ]

    @Test(arguments: shares)
    func workerHasTheShareOfItsPartitions(mode: FleetShare, assigned: Int, partitions: Int, share: Double) {
        #expect(mode.value(assigned: assigned, of: partitions) == share)
    }

    /// Members come and go; as in Kafka's groups, partitions leave their owner before another one has them.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func fleetStaysWithinTheLimitWhileItRebalances(seed: UInt64) {
        let limit = RateLimit(perSecond: 200, burst: 24)
        let (partitions, members) = (12, 4)
        let time = VirtualTime(timersLateBy: .microseconds(500))
        let owner = Owner(time)
        owner.assumeIsolated { owner in
            let buckets = (0..<members).map { _ in
                Box(RateBucket(limit: limit, share: FleetShare.byPartitions.initial, at: time.now))
            }
            let admitted = Log<Duration>()
            for bucket in buckets {
                bucket.value.isAwaited = true
                Task.immediate(executorPreference: time) {
                    _ = owner
                    while time.elapsed < .seconds(20) {
                        while bucket.value.hasToken(at: time.now) {
                            bucket.value.take()
                            admitted.note(time.elapsed)
                        }
                        await time.sleep(for: .milliseconds(3))
                    }
                }
            }
            Task.immediate(executorPreference: time) {
                _ = owner
                var random = SplitMix64(state: seed)
                var owners = [Int?](repeating: nil, count: partitions)
                func tell(_ member: Int) {
                    let share = FleetShare.byPartitions.value(
                        assigned: owners.count { $0 == member }, of: partitions)
                    buckets[member].value.setShare(share, at: time.now)
                }
                while time.elapsed < .seconds(20) {
                    let present = (0..<members).filter { _ in Bool.random(using: &random) }
                    let living = present.isEmpty ? [0] : present
                    let planned = (0..<partitions).map { living[$0 % living.count] }
                    // Each member reports a loss when it has happened, and each gain some time later.
                    for index in owners.indices where owners[index] != planned[index] { owners[index] = nil }
                    for member in 0..<members { tell(member) }
                    await time.sleep(for: .milliseconds(Int.random(in: 0...20, using: &random)))
                    owners = planned
                    for member in (0..<members).shuffled(using: &random) {
                        tell(member)
                        await time.sleep(for: .milliseconds(Int.random(in: 0...5, using: &random)))
                    }
                    await time.sleep(for: .milliseconds(Int.random(in: 100...2000, using: &random)))
                }
            }
            time.run(for: .seconds(20))
            let most = admitted.entries.mostInASecond
            #expect(Double(most) <= limit.perSecond + limit.burst, "\(most) in a second")
            let used = Double(admitted.entries.count { $0 > .seconds(1) }) / (limit.perSecond * 19)
            #expect(used >= 0.95, "used \(used)")
        }
    }
}
