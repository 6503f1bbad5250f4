internal import EventLoop
package import Kafka
package import LocationSearch
package import ProviderCalls
package import QuotaSharing
internal import Resilience

/// The status of a lane, for other modules.
extension WorkerLane {
    /// Returns the lane's topics that do not exist or that this user may not describe. Empty if no broker answers
    /// within 2 s.
    package func missingTopics() async -> [String] {
        guard let existing = await source.existingTopics() else { return [] }
        return configuration.topics.all.filter { !existing.contains($0) }
    }

    /// The state of this lane's work. Cheap to read.
    package var status: LaneStatus {
        get async {
            let positions = await source.positions.map { position in
                let owned = partitions[position.partition.id]
                return LaneStatus.Partition(
                    id: position.partition.id, open: owned?.requests.count ?? 0, committed: position.committed,
                    end: position.end, next: owned?.commits.tracker.nextToTake, problem: position.problem)
            }
            let brokersAreDown = await source.brokersAreDown
            let sink = delivery.outcomes.sink

            return LaneStatus(
                positions: positions, waiting: waitingRoom?.waiting(at: loop.now) ?? [],
                heldBack: waitingRoom?.heldBack.reduce(0) { $0 + $1.requests.count } ?? 0, inFlight: gate.inFlight,
                unconfirmed: gate.open - gate.inFlight,
                brokersAreDown: brokersAreDown, groupRefusal: await source.groupRefusal, isDraining: state.isDraining,
                delivery: delivery.outcomes.status, queuedRecords: await sink.undelivered,
                consumer: source.statistics, producer: sink.statistics, busy: loop.busy,
                longestPass: loop.longestPassWithoutPolling)
        }
    }
}

/// The lane's connection to the fleet. `LaneGroup` passes it the records of the fleet topic.
extension WorkerLane {
    /// Processes what was read from the fleet topic.
    /// - Returns: `true` if it must be read from its oldest record on.
    package func receive(_ news: FleetNews) async -> Bool { await rebalancing.fleet.receive(news) }

    /// Runs `body` on the lane's loop, from a task of another executor.
    ///
    /// An `await` on a method of the lane is not enough. The compiler omits the switch to an actor whose method awaits
    /// only nonisolated work, and that work would run on the caller's executor.
    nonisolated func onLoop<Value: Sendable>(_ body: @escaping @Sendable (WorkerLane) async -> Value) async -> Value {
        await Task(executorPreference: loop) { await body(self) }.value
    }
}

/// The lane's providers, for operators.
extension WorkerLane {
    /// Creates the clients of the configured providers, so that their statuses can be read before the first request names
    /// one.
    /// - Returns: the configured providers.
    @discardableResult
    package func prepareProviders() -> [ProviderID] {
        runner.searches?.prepare(for: runner.configuredProviders)
        return runner.configuredProviders
    }

    /// The state of each provider that was prepared or has received a request.
    package var providerStatuses: [ProviderStatus] { runner.searches?.statuses ?? [] }

    /// Call this when a provider has a new key: see `SearchWorker.renewKey`.
    package func renewKey(of provider: ProviderID) { runner.searches?.renewKey(of: provider) }
}

extension WorkerLane: RebalanceListener {
    package func assigned(_ partitions: [AssignedPartition]) async { await rebalancing.assigned(partitions) }

    package func willRead(from committed: [AssignedPartition: CommittedOffset]) async {
        rebalancing.willRead(from: committed)
    }

    package func revoked(_ partitions: [AssignedPartition]) async {
        await rebalancing.revoked(partitions, drainEnd: state.drainEnd)
    }

    package func lost(_ partitions: [AssignedPartition]) async { await rebalancing.lost(partitions) }

    package func answered(_ kind: RebalanceKind, after time: Duration) async {
        rebalancing.answered(kind, after: time)
    }

    package func missed(_ offsets: Range<Int64>, of partition: TopicPartition) async -> Int64 {
        partitions.countMissed(offsets, of: partition)
    }

    package func passed(_ offsets: Range<Int64>, of partition: AssignedPartition) async {
        partitions.noteGap(offsets, of: partition)
    }

    package func restarted(_ former: AssignedPartition, as renewed: AssignedPartition, from offset: Int64) async {
        await rebalancing.restarted(former, as: renewed, from: offset)
    }
}
