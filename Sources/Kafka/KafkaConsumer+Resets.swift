internal import Logging

/// Reports records that were deleted before anybody read them.
extension KafkaConsumer {
    /// Begins to report the partitions whose reading went on somewhere else. Those that the broker does not answer for are
    /// asked for again at the next call.
    func reportResets() {
        // Of other topics' partitions nothing is read.
        group.resets += client.offsetResets.takeAll().filter { group.topics.contains($0.partition.topic) }
        guard !group.resets.isEmpty, group.resetLookup == nil, !isClosed else { return }

        group.resetLookup = Task {
            await reportPendingResets()
            group.resetLookup = nil
        }
    }

    private func reportPendingResets() async {
        let resets = group.resets
        let ids = Array(Set(resets.map(\.partition)))
        do throws(KafkaError) {
            let oldest = try await client.offsets(.beginning, of: ids, within: .seconds(1))
            let ends = try await client.offsets(.end, of: ids, within: .seconds(1))

            group.resets.removeFirst(resets.count)
            for reset in resets {
                guard let next = (reset.toEnd ? ends : oldest)[reset.partition] else { continue }
                await report(reset, next: next)
            }
        } catch {
            log.debug("where reading goes on is not known yet", metadata: ["reason": "\(error)"])
        }
    }

    private func report(_ reset: OffsetResets.Reset, next: Int64) async {
        var metadata: Logger.Metadata = ["partition": "\(reset.partition)", "from": "\(reset.from)", "to": "\(next)"]
        let (missed, overflow) = next.subtractingReportingOverflow(reset.from)
        guard missed > 0, !overflow else {
            return log.error(
                "the group's offset is beyond the end of its partition, as when a topic was made anew: reading goes on elsewhere",
                metadata: metadata)
        }

        metadata["requests"] = "\(missed)"
        log.error(
            "requests were deleted before anybody read them: their topic keeps them for less time than they waited",
            metadata: metadata)
        await group.listener?.missed(missed, of: reset.partition)
    }
}
