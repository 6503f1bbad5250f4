internal import Basics
internal import EventLoop
internal import Logging

/// Reports records that were deleted before they were read, and decides how reading continues past the end of a log.
extension KafkaConsumer {
    /// Begins to report pending offset resets, and to decide about partitions in which reading went back. If the broker
    /// does not answer for some of them, a call at least 2 s later retries.
    func lookAtResets() {
        // Partitions of other topics are not read.
        group.resets.unreported += client.offsetResets.takeAll().filter { group.topics.contains($0.partition.topic) }
        let goneBack = partitions.inOrder.filter { $0.rewound != nil && !$0.isPaused && $0.isReadable }.map(\.partition)
        let isReportDue = !group.resets.unreported.isEmpty && (group.resets.nextReport.map { $0 <= loop.now } ?? true)
        guard isReportDue || !goneBack.isEmpty, group.resets.task == nil, !isClosed else { return }

        group.resets.task = Task {
            for partition in goneBack where !isClosed { await decide(about: partition) }
            if isReportDue, !isClosed { await reportPendingResets() }
            group.resets.task = nil
        }
    }

    /// Decides how reading continues in a partition whose log ended before the wanted offset.
    ///
    /// A topic that was deleted and created again is read from its first record. Kafka deletes committed offsets
    /// together with a topic, which distinguishes this case from a truncated log. A truncated log holds requests that
    /// are already done; reading them again would pay for them twice.
    private func decide(about partition: AssignedPartition) async {
        let committed: [TopicPartition: CommittedOffset]
        do throws(KafkaError) {
            committed = try await client.commits(of: [partition.id], within: .seconds(1))
        } catch {
            return log.debug(
                "cannot look up committed offsets after a reset; retrying", metadata: ["reason": "\(error)"])
        }
        guard let source = partitions.source(partition), source.isReadable, let first = source.rewound else { return }

        var metadata: Logger.Metadata = ["partition": "\(partition.id)", "to": "\(first.offset)"]
        guard committed.isEmpty || source.missingSince != nil || readsOnPastEnd else {
            source.isPaused = true
            metadata["committed"] = "\(committed[partition.id]?.offset ?? -1)"
            return log.error(
                """
                the committed offset is past the end of the partition, as after a log truncation: the partition is paused; \
                run locsearch offsets reset, or set auto.offset.reset in kafka.properties
                """,
                metadata: metadata)
        }

        log.warning(
            "the partition restarts at its first record: its topic was probably deleted and created again",
            metadata: metadata)
        // The new assignment has another epoch, so late results for the deleted topic have no effect on it.
        partitions.remove([source])
        guard let renewed = partitions.add([partition.id]).first else { return }
        (renewed.rewound, renewed.offsets.start) = (first, first.offset)
        await group.listener?.restarted(partition, as: renewed.partition, from: first.offset)
        (renewed.kept, renewed.rewound) = (first, nil)
        renewed.kept?.partition = renewed.partition
        partitions.noteRecords(of: renewed)
        wakeReader()
    }

    private func reportPendingResets() async {
        // Each topic is queried separately, so that an inaccessible topic does not delay the reports of the others.
        let topics = Dictionary(grouping: group.resets.unreported, by: \.partition.topic)
        group.resets.unreported = []
        var failed: [OffsetResets.Reset] = []
        for resets in topics.values where !isClosed {
            if await !report(resets) { failed += resets }
        }

        guard !failed.isEmpty else { return }
        group.resets.unreported = failed + group.resets.unreported
        group.resets.nextReport = loop.now + .seconds(2)
    }

    /// Reports the resets of one topic.
    /// - Returns: `false` if a later call must report them.
    private func report(_ resets: [OffsetResets.Reset]) async -> Bool {
        let ids = Array(Set(resets.map(\.partition)))
        do throws(KafkaError) {
            let oldest = try await client.offsets(.beginning, of: ids, within: .seconds(1))
            let ends = try await client.offsets(.end, of: ids, within: .seconds(1))

            for reset in resets {
                guard let next = (reset.toEnd ? ends : oldest)[reset.partition] else { continue }
                await report(reset, next: next)
            }
            return true
        } catch {
            log.debug("cannot look up the position after a reset; retrying", metadata: ["reason": "\(error)"])
            return false
        }
    }

    private func report(_ reset: OffsetResets.Reset, next: Int64) async {
        // If the log ends before the wanted offset, `decide` reports it.
        guard next > reset.from, !isClosed else { return }
        client.offsetResets.forgetReset(of: reset.partition)
        let deleted = reset.from..<next
        let missed = await group.listener?.missed(deleted, of: reset.partition) ?? Int64(deleted.count)
        guard missed > 0 else { return }

        log.error(
            "requests were deleted before they were read: they waited for longer than the retention of their topic",
            metadata: [
                "partition": "\(reset.partition)", "from": "\(reset.from)", "to": "\(next)", "requests": "\(missed)",
            ])
    }
}
