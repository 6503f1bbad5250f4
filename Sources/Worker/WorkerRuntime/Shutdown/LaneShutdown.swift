internal import EventLoop
internal import Kafka

/// The ordered steps of a lane's shutdown. Each depends on those before it; docs/internals/architecture.md shows them
/// as a diagram.
///
/// Confined to its lane; not `Sendable`.
final class LaneShutdown {
    /// The timeouts for leaving the group. After a failure there is nothing to hand over.
    private static let (timeToLeave, timeToLeaveAfterFailure) = (Duration.seconds(10), Duration.seconds(2))
    /// Unresponsive brokers delay each of the last two steps until at most this long after the grace period.
    private static let (leavingAfterGrace, flushingAfterGrace) = (Duration.seconds(3), Duration.seconds(5))
    /// The least time of each step that needs the brokers, however late it begins.
    private static let shortestStep = Duration.seconds(1)

    private let partitions: PartitionTable
    private let delivery: LaneDelivery
    private let source: any RequestSource
    private let departure: DepartureBarrier
    private let loop: EventLoop

    init(
        partitions: PartitionTable, delivery: LaneDelivery, source: any RequestSource,
        departure: DepartureBarrier, loop: EventLoop
    ) {
        self.partitions = partitions
        (self.delivery, self.source, self.departure, self.loop) = (delivery, source, departure, loop)
    }

    /// Drains a lane: all requests finish, their outcomes are published and committed, then the lane leaves the group.
    /// - Parameter end: requests that have not finished by then are left to the next owner.
    /// - Parameter delivering: the task of the delivery, which ends too.
    /// - Parameter hasFailed: checked before each step, because any step may cause a fatal failure.
    func drain(until end: Instant, delivering: Task<Void, Never>?, hasFailed: () -> Bool) async {
        await delivery.transactions?.limit(to: end)
        await partitions.waitUntilIdle(partitions.all, before: end)

        for partition in partitions.all { partition.commits.noteOrderlyEnd() }
        await delivery.offsets.finish(before: end)
        await delivering?.value
        await departure.arrive()
        guard !hasFailed() else { return await leave(hasFailed: true) }

        await departure.waitForAll()
        await leave(after: end, hasFailed: hasFailed())
    }

    /// Ends a lane after a fatal failure: nothing more is published, and at most what was delivered before is
    /// committed.
    ///
    /// The partitions are marked as released in order, so that no record is blamed. A worker that is restarted
    /// repeatedly while a topic refuses its outcomes would otherwise set aside the records that wait for that topic.
    func abandon(delivering: Task<Void, Never>?) async {
        await delivering?.value
        for partition in partitions.all { partition.commits.noteOrderlyEnd() }
        await delivery.offsets.commitAfterFailure()
        await departure.arrive()
        await leave(hasFailed: true)
    }

    /// Removes the partitions that the source did not revoke in time. Their next owner publishes the outcomes.
    private func removeRemainingPartitions() {
        for partition in partitions.remove(partitions.all.map(\.id)) { delivery.transactions?.forget(partition) }
    }

    /// - Parameter grace: the end of the worker's grace period, which bounds both steps. `nil`: there is none.
    private func leave(after grace: Instant? = nil, hasFailed: Bool) async {
        func time(atMost limit: Duration, until margin: Duration) -> Duration {
            guard let grace else { return limit }
            return min(limit, max(Self.shortestStep, loop.now.duration(to: grace + margin)))
        }

        let timeToLeave = hasFailed ? Self.timeToLeaveAfterFailure : Self.timeToLeave
        await source.close(within: time(atMost: timeToLeave, until: Self.leavingAfterGrace))
        removeRemainingPartitions()
        await delivery.outcomes.close(
            within: time(atMost: .seconds(5), until: Self.flushingAfterGrace), hasFailed: hasFailed)
    }
}

/// A barrier for the shutdown of a process: no lane leaves the group before all lanes have committed.
///
/// A member that leaves starts a rebalance, during which a coordinator may refuse the commits of others. The next owner
/// would then repeat, and pay for, that work.
package actor DepartureBarrier {
    private var lanesToCome: Int
    private var lastArrival = Condition()

    /// - Parameter lanes: the number of lanes in the process, at least 1.
    package init(lanes: Int) { lanesToCome = lanes }

    /// Records that a lane has committed what it can. Every lane calls it once, including a failed one.
    func arrive() {
        lanesToCome -= 1
        if lanesToCome <= 0 { lastArrival.broadcast() }
    }

    /// Returns once every lane has arrived.
    func waitForAll() async {
        guard lanesToCome > 0 else { return }
        await suspend(unless: lanesToCome <= 0) { lastArrival.add($0) }
    }
}
