internal import Basics
internal import EventLoop
internal import Logging

/// Looks up the offsets of partitions that were assigned, and finds where reading begins.
extension KafkaConsumer {
    // MARK: - Where reading begins

    /// Finds where to begin in partitions for which the group has committed nothing, unless that is librdkafka's to find.
    ///
    /// What is found is committed before the first record is read. Otherwise the next owner would look for the latest
    /// offset again, find a later one, and skip what this member has taken and not finished.
    ///
    /// Tries until it succeeds. Partitions of a generation that is over meanwhile are not read: they are about to be
    /// revoked.
    func startOffsets(of added: [PartitionSource]) async -> [TopicPartition: Int64] {
        guard startFrom != .earliest, !added.isEmpty else { return [:] }
        let finder = StartFinder(broker: client, startFrom: startFrom)
        var hasWarned = false

        while !isClosed {
            do throws(KafkaError) {
                let starts = try await finder.commitStarts(of: added.map(\.partition.id))
                for source in added { source.committed = starts[source.partition.id] }
                return starts
            } catch {
                if error.isOfGeneration || error.kind == .fatal || error.kind == .fenced { break }
                if !hasWarned {
                    log.warning(
                        "it cannot be found out where reading begins; trying again until it can",
                        metadata: ["reason": "\(error)"])
                }
                hasWarned = true
            }
            await loop.pause(.milliseconds(300))
        }

        for source in added { source.isReadable = false }
        return [:]
    }

    // MARK: - Where partitions stand

    /// Begins to ask the broker about partitions of which it is not known yet what is committed and where they end. Those
    /// that it does not answer for are asked for again, every two seconds.
    func lookUpOffsets() {
        let unknown = partitions.inOrder.filter { !$0.isKnown }
        guard !unknown.isEmpty, group.lookup == nil, !isClosed, group.nextLookup.map({ $0 <= loop.now }) ?? true else {
            return
        }

        let ids = unknown.map(\.partition)
        group.lookup = Task {
            await lookUpOffsets(of: ids)
            group.lookup = nil
            group.nextLookup = loop.now + .seconds(2)
        }
    }

    private func lookUpOffsets(of assigned: [AssignedPartition]) async {
        let (ids, bound) = (assigned.map(\.id), Duration.seconds(1))
        do throws(KafkaError) {
            let committed = try await client.committedOffsets(of: ids, within: bound)
            let new = ids.filter { committed[$0] == nil }
            let starts = new.isEmpty ? [:] : try await client.offsets(.beginning, of: new, within: bound)
            let ends = try await client.offsets(.end, of: ids, within: bound)

            for partition in assigned {
                guard let source = partitions.source(partition) else { continue }
                // A commit that was answered meanwhile is the newer.
                if source.committed == nil { source.committed = committed[partition.id] }
                source.start = starts[partition.id]
                source.endAtStart = ends[partition.id]
            }
        } catch {
            log.debug("the offsets of new partitions are not known yet", metadata: ["reason": "\(error)"])
        }
        reportBacklog()
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
