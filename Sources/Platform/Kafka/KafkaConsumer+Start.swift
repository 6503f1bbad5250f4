internal import Basics
internal import EventLoop
internal import Logging

/// Looks up the offsets of partitions that were assigned, and finds where reading begins.
extension KafkaConsumer {
    // MARK: - Where reading begins

    /// How long the group waits for the answer about a new assignment. Meanwhile no other rebalance can begin.
    private static let firstBound = Duration.seconds(1)

    /// Finds where reading begins in partitions that were just assigned.
    ///
    /// Where the group has committed nothing and begins elsewhere than at the oldest record, the start is committed before
    /// the first record is read. Otherwise the next owner would look for the latest offset again, find a later one, and skip
    /// what this member has taken and not finished.
    /// - Returns: No start for a partition about which the broker does not say at once: see `findPendingStarts`.
    func firstStarts(of added: [PartitionSource]) async -> [TopicPartition: ReadingStart] {
        guard !added.isEmpty, !isClosed else { return [:] }
        do throws(KafkaError) {
            return try await findStarts(of: added.map(\.partition))
        } catch {
            log.debug("where reading begins is not known yet", metadata: ["reason": "\(error)"])
            return [:]
        }
    }

    private func findStarts(
        of assigned: [AssignedPartition]
    ) async throws(KafkaError) -> [TopicPartition: ReadingStart] {
        let finder = StartFinder(broker: client, startFrom: startFrom)
        let starts = try await finder.starts(of: assigned.map(\.id), within: Self.firstBound)

        var begun: [AssignedPartition: CommittedOffset] = [:]
        for partition in assigned {
            guard case .committed(let commit) = starts[partition.id], let source = partitions.source(partition) else {
                continue
            }
            begun[partition] = commit
            if source.committed == nil { source.committed = commit.offset }
        }
        if !begun.isEmpty { await group.listener?.willRead(from: begun) }
        return starts
    }

    /// Begins to look up where reading begins in the partitions of which that is not known yet, again at each call until it
    /// is. Meanwhile nothing of them is read, and rebalances go on.
    func findPendingStarts() {
        let pending = partitions.inOrder.filter(\.awaitsStart).map(\.partition)
        guard !pending.isEmpty, group.startSearch == nil, !group.isAssigning, !group.isRejoining, !isClosed else {
            return
        }

        group.startSearch = Task {
            do throws(KafkaError) {
                begin(pending, at: try await findStarts(of: pending))
                group.hasWarnedOfStarts = false
            } catch {
                warnOfPendingStarts(error)
            }
            group.startSearch = nil
        }
    }

    /// Has reading begin in those partitions that are assigned still.
    private func begin(_ pending: [AssignedPartition], at starts: [TopicPartition: ReadingStart]) {
        let sources = pending.compactMap { partitions.source($0) }.filter { $0.awaitsStart && $0.isReadable }
        let known = sources.compactMap { source in
            starts[source.partition.id].map { (id: source.partition.id, start: $0) }
        }
        guard !known.isEmpty, !isClosed else { return }

        let moved = client.seek(known)
        for source in sources where moved.contains(source.partition.id) {
            if let start = starts[source.partition.id] { source.begin(at: start) }
            source.mayHaveRecords = true
        }
        wakeReader()
    }

    private func warnOfPendingStarts(_ reason: KafkaError) {
        guard !group.hasWarnedOfStarts, !isClosed else { return }
        group.hasWarnedOfStarts = true
        log.warning(
            "it cannot be found out where reading begins; trying again until it can",
            metadata: [
                "reason": "\(reason)",
                "causes": "the group's coordinator does not answer, or a worker died within a transaction",
            ])
    }

    // MARK: - Where partitions stand

    /// Begins to ask the broker where partitions end, every minute, because a client that fetches nothing learns of no later end; and what
    /// is committed of those of which that is not known yet. Those that it does not answer for are asked for again, every two seconds.
    func lookUpOffsets() {
        let endsAreDue = group.nextEndLookup.map { $0 <= loop.now } ?? false
        // A question about one whose start is not known would only hold up that about its start.
        let asked = partitions.inOrder.filter { (endsAreDue || !$0.isKnown) && !$0.awaitsStart }
        guard !asked.isEmpty, group.lookup == nil, !isClosed, group.nextLookup.map({ $0 <= loop.now }) ?? true else {
            return
        }

        if endsAreDue || group.nextEndLookup == nil { group.nextEndLookup = loop.now + .seconds(60) }
        // A topic that may not be read has no part in what is known of the others.
        let topics = Dictionary(grouping: asked.map(\.partition), by: \.id.topic)
        group.lookup = Task {
            for partitions in topics.values { await lookUpOffsets(of: partitions) }
            reportBacklog()
            group.lookup = nil
            group.nextLookup = loop.now + .seconds(2)
        }
    }

    private func lookUpOffsets(of assigned: [AssignedPartition]) async {
        let (ids, bound) = (assigned.map(\.id), Duration.seconds(1))
        let unknown = assigned.filter { partitions.source($0)?.isKnown == false }.map(\.id)
        do throws(KafkaError) {
            let committed = unknown.isEmpty ? [:] : try await client.committedOffsets(of: unknown, within: bound)
            let new = unknown.filter { committed[$0] == nil }
            let starts = new.isEmpty ? [:] : try await client.offsets(.beginning, of: new, within: bound)
            let ends = try await client.offsets(.end, of: ids, within: bound)

            for partition in assigned {
                guard let source = partitions.source(partition) else { continue }
                // A commit that was answered meanwhile is the newer.
                if source.committed == nil { source.committed = committed[partition.id] }
                if let start = starts[partition.id] { source.start = start }
                if let end = ends[partition.id] { source.end = end }
            }
        } catch {
            log.debug("the offsets of partitions are not known", metadata: ["reason": "\(error)"])
        }
    }

    // MARK: - What waits at first

    /// Says once, after the first assignment, how many requests wait and how old the oldest is.
    func reportBacklog() {
        guard let report = backlog?.report(on: partitions.inOrder, at: loop.now, wallClock: loop.wallNow) else {
            return
        }
        backlog = nil

        var metadata: Logger.Metadata = ["requests": "\(report.waiting)", "partitions": "\(report.partitions)"]
        if let age = report.oldestAge { metadata["oldest"] = "\(age.components.seconds) s" }
        log.info("first assignment: so many requests wait in its partitions", metadata: metadata)
    }
}
