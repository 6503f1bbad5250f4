internal import Kafka

/// The ordered steps of a lane's end. Each depends on those before it: docs/architecture.md has them as a picture.
///
/// Confined to its lane; not `Sendable`.
final class LaneShutdown {
    /// A consumer that has nothing to hand over after a failure leaves within this time, or not at all.
    private static let (timeToLeave, timeToLeaveAfterFailure) = (Duration.seconds(10), Duration.seconds(2))

    private let partitions: PartitionTable
    private let delivery: any OutcomeDelivery
    private let source: any RequestSource
    private let departure: DepartureBarrier

    init(
        partitions: PartitionTable, delivery: any OutcomeDelivery, source: any RequestSource,
        departure: DepartureBarrier
    ) {
        self.partitions = partitions
        self.delivery = delivery
        self.source = source
        self.departure = departure
    }

    /// Ends a lane that was asked to: everything in flight finishes, is published and committed, then the lane leaves.
    /// - Parameter end: what is not done by then is left to whoever comes next.
    /// - Parameter delivering: the delivery's own work, which ends along with it.
    /// - Parameter hasFailed: asked again before each step, because any of them may bring a fatal failure.
    func drain(
        until end: ContinuousClock.Instant, delivering: Task<Void, Never>?, hasFailed: () -> Bool
    ) async {
        await delivery.limit(to: end)
        await partitions.waitUntilIdle(partitions.all, before: end)

        await delivery.finish(before: end)
        await delivering?.value
        await departure.arrive()
        guard !hasFailed() else { return await leave(hasFailed: true) }

        await departure.waitForAll()
        await leave(hasFailed: hasFailed())
    }

    /// Ends a lane after a fatal failure: nothing further is published or committed.
    func abandon(delivering: Task<Void, Never>?) async {
        await delivering?.value
        await departure.arrive()
        await leave(hasFailed: true)
    }

    private func leave(hasFailed: Bool) async {
        await source.close(within: hasFailed ? Self.timeToLeaveAfterFailure : Self.timeToLeave)
        await delivery.close(hasFailed: hasFailed)
    }
}
