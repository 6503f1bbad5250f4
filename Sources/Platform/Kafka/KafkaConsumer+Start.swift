internal import Basics
internal import EventLoop
internal import Logging

/// Finds where reading begins in assigned partitions, and looks up their offsets.
extension KafkaConsumer {
    // MARK: - Start offsets

    /// How long the group waits for the start offsets of a new assignment. No other rebalance can begin in this time.
    private static let firstBound = Duration.seconds(1)

    /// Finds where reading begins in newly assigned partitions: at the committed offset, or else at the oldest record.
    /// - Returns: No entry for a partition for which the broker does not answer at once: see `findPendingStarts`.
    func firstStarts(of added: [PartitionSource]) async -> [TopicPartition: ReadingStart] {
        guard !added.isEmpty, !isClosed else { return [:] }
        do throws(KafkaError) {
            return try await findStarts(of: added.map(\.partition))
        } catch {
            log.debug("start offsets are not known yet", metadata: ["reason": "\(error)"])
            return [:]
        }
    }

    private func findStarts(
        of assigned: [AssignedPartition]
    ) async throws(KafkaError) -> [TopicPartition: ReadingStart] {
        let commits = try await client.commits(of: assigned.map(\.id), within: Self.firstBound)

        var begun: [AssignedPartition: CommittedOffset] = [:]
        for partition in assigned {
            guard let commit = commits[partition.id], let source = partitions.source(partition) else { continue }
            begun[partition] = commit
            if source.offsets.committed == nil { source.offsets.committed = commit.offset }
        }
        if !begun.isEmpty { await group.listener?.willRead(from: begun) }
        return assigned.reduce(into: [:]) { $0[$1.id] = commits[$1.id].map(ReadingStart.committed) ?? .beginning }
    }

    /// Begins to look up the start offsets that are still unknown; each call retries. Until they are known, these
    /// partitions are not read. Rebalances continue.
    func findPendingStarts() {
        let pending = partitions.inOrder.filter(\.awaitsStart).map(\.partition)
        guard !pending.isEmpty, group.startSearch.task == nil, !group.isAssigning, !group.isRejoining, !isClosed else {
            return
        }

        group.startSearch.task = Task {
            do throws(KafkaError) {
                begin(pending, at: try await findStarts(of: pending))
                group.startSearch.hasWarned = false
            } catch {
                warnOfPendingStarts(error)
            }
            group.startSearch.task = nil
        }
    }

    /// Begins reading in those partitions that are still assigned.
    private func begin(_ pending: [AssignedPartition], at starts: [TopicPartition: ReadingStart]) {
        let sources = pending.compactMap { partitions.source($0) }.filter { $0.awaitsStart && $0.isReadable }
        let known = sources.compactMap { source in
            starts[source.partition.id].map { (id: source.partition.id, start: $0) }
        }
        guard !known.isEmpty, !isClosed else { return }

        let moved = client.seek(known)
        for source in sources where moved.contains(source.partition.id) {
            if let start = starts[source.partition.id] { partitions.begin(source, at: start) }
        }
        wakeReader()
    }

    private func warnOfPendingStarts(_ reason: KafkaError) {
        guard !group.startSearch.hasWarned, !isClosed else { return }
        group.startSearch.hasWarned = true
        log.warning(
            "start offsets are not known, so some partitions are not read yet; retrying",
            metadata: [
                "reason": "\(reason)",
                "causes": "the group's coordinator does not answer, or a worker died within a transaction",
            ])
    }

    // MARK: - Positions

    /// Begins to look up the offsets of partitions. Their ends are refreshed every minute, because a client that
    /// fetches nothing does not receive later ends. Committed offsets are fetched for partitions for which they are
    /// unknown. Failed lookups are retried every two seconds.
    func lookUpOffsets() {
        let endsAreDue = group.offsetLookup.nextOfEnds.map { $0 <= loop.now } ?? false
        // A query for a partition with an unknown start would only delay the query for that start.
        let asked = partitions.inOrder.filter { (endsAreDue || !$0.offsets.areKnown) && !$0.awaitsStart }
        let isDue = group.offsetLookup.next.map { $0 <= loop.now } ?? true
        guard !asked.isEmpty, group.offsetLookup.task == nil, isDue, !isClosed else { return }

        if endsAreDue || group.offsetLookup.nextOfEnds == nil {
            group.offsetLookup.nextOfEnds = loop.now + .seconds(60)
        }
        // Each topic is queried separately, so that an inaccessible topic does not fail the others.
        let topics = Dictionary(grouping: asked.map(\.partition), by: \.id.topic)
        group.offsetLookup.task = Task {
            for partitions in topics.values where !isClosed { await lookUpOffsets(of: partitions) }
            group.offsetLookup.task = nil
            group.offsetLookup.next = loop.now + .seconds(2)
        }
    }

    private func lookUpOffsets(of assigned: [AssignedPartition]) async {
        let (ids, bound) = (assigned.map(\.id), Duration.seconds(1))
        let unknown = assigned.filter { partitions.source($0)?.offsets.areKnown == false }.map(\.id)
        do throws(KafkaError) {
            let committed = unknown.isEmpty ? [:] : try await client.committedOffsets(of: unknown, within: bound)
            let new = unknown.filter { committed[$0] == nil }
            let starts = new.isEmpty ? [:] : try await client.offsets(.beginning, of: new, within: bound)
            let ends = try await client.offsets(.end, of: ids, within: bound)

            for partition in assigned {
                guard let source = partitions.source(partition) else { continue }
                // A commit acknowledged in the meantime is newer.
                if source.offsets.committed == nil { source.offsets.committed = committed[partition.id] }
                if let start = starts[partition.id] { source.offsets.start = start }
                if let end = ends[partition.id] { source.offsets.end = end }
            }
        } catch {
            log.debug("offset lookup failed; retrying", metadata: ["reason": "\(error)"])
        }
    }
}
