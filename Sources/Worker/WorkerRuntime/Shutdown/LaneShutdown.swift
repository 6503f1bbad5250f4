internal import Basics
internal import EventLoop
internal import Kafka

/// The ordered steps of a lane's end. Each depends on those before it: docs/internals/architecture.md has them as a picture.
///
/// Confined to its lane; not `Sendable`.
final class LaneShutdown {
    /// A consumer leaves its group within this time, or not at all. After a failure it has nothing to hand over.
    private static let (timeToLeave, timeToLeaveAfterFailure) = (Duration.seconds(10), Duration.seconds(2))
    /// Brokers that do not answer hold up each of the last two steps until so long after the grace, and no longer.
    private static let (leavingAfterGrace, flushingAfterGrace) = (Duration.seconds(3), Duration.seconds(5))
    /// Each step that needs the brokers has this long, however late it begins.
    private static let shortestStep = Duration.seconds(1)

    private let partitions: PartitionTable
    private let delivery: any OutcomeDelivery
    private let source: any RequestSource
    private let departure: DepartureBarrier
    private let loop: EventLoop

    init(
        partitions: PartitionTable, delivery: any OutcomeDelivery, source: any RequestSource,
        departure: DepartureBarrier, loop: EventLoop
    ) {
        self.partitions = partitions
        self.delivery = delivery
        self.source = source
        self.departure = departure
        self.loop = loop
    }

    /// Ends a lane that was asked to: everything in flight finishes, is published and committed, then the lane leaves.
    /// - Parameter end: what is not done by then is left to the next owner.
    /// - Parameter delivering: the delivery's own work, which ends along with it.
    /// - Parameter hasFailed: asked again before each step, because any of them may bring a fatal failure.
    func drain(
        until end: Instant, delivering: Task<Void, Never>?, hasFailed: () -> Bool
    ) async {
        await delivery.limit(to: end)
        await partitions.waitUntilIdle(partitions.all, before: isPutBack(.drainDoesNotWait) ? loop.now : end)

        for partition in partitions.all { partition.sayGoodbye() }
        await delivery.finish(before: end)
        await delivering?.value
        await departure.arrive()
        guard !hasFailed() else { return await leave(hasFailed: true) }

        await departure.waitForAll()
        await leave(after: end, hasFailed: hasFailed())
    }

    /// Ends a lane after a fatal failure: nothing further is published, and what was delivered before is committed at the most.
    ///
    /// It ends by its own decision, so that no record is to blame: a worker that is started again and again while a topic refuses its
    /// outcomes would else have the records set aside that wait for that topic.
    func abandon(delivering: Task<Void, Never>?) async {
        await delivering?.value
        for partition in partitions.all { partition.sayGoodbye() }
        await delivery.commitAfterFailure()
        await departure.arrive()
        await leave(hasFailed: true)
    }

    /// Forgets the partitions of which the source, within its time, was not asked to give them up. Their outcomes are published by the
    /// next owner.
    private func forgetWhatIsLeft() {
        for partition in partitions.remove(partitions.all.map(\.id)) { delivery.forget(partition) }
    }

    /// - Parameter grace: the end of the worker's grace, by which both steps are bounded. `nil`: there is none.
    private func leave(after grace: Instant? = nil, hasFailed: Bool) async {
        func time(atMost limit: Duration, until margin: Duration) -> Duration {
            guard let grace else { return limit }
            return min(limit, max(Self.shortestStep, loop.now.duration(to: grace + margin)))
        }

        let timeToLeave = hasFailed ? Self.timeToLeaveAfterFailure : Self.timeToLeave
        await source.close(within: time(atMost: timeToLeave, until: Self.leavingAfterGrace))
        forgetWhatIsLeft()
        await delivery.close(
            within: time(atMost: .seconds(5), until: Self.flushingAfterGrace), hasFailed: hasFailed)
    }
}
