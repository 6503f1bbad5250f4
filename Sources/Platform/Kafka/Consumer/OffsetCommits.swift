internal import Basics
internal import EventLoop

/// Stores offsets and commits them, one commit at a time. Belongs to the consumer's actor.
final class OffsetCommits {
    private let client: ClientHandle
    private let loop: EventLoop
    private let partitions: PartitionSources

    /// The number of commits begun and answered; they differ by at most one.
    private(set) var begun = 0
    private var answered = 0
    /// The unanswered requests of the current commit.
    private var awaited = 0
    /// The first error of the current or last commit; `nil` if it has none so far.
    private var lastError: KafkaError?
    private var waiters: [Int: CheckedContinuation<KafkaError?, Never>] = [:]
    private var lastWaiter = 0
    /// The number of offsets ignored because their assignment had ended.
    private(set) var staleOffsets = 0
    /// The offsets in the current commit.
    private var requested: [AssignedPartition: CommittedOffset] = [:]

    init(_ client: ClientHandle, loop: EventLoop, partitions: PartitionSources) {
        (self.client, self.loop, self.partitions) = (client, loop, partitions)
    }

    /// The committed offset of each partition that has one.
    var confirmed: [AssignedPartition: Int64] {
        var offsets: [AssignedPartition: Int64] = [:]
        for source in partitions.inOrder { offsets[source.partition] = source.offsets.committed }
        return offsets
    }

    /// Stores the offsets to continue from, for the next commit. Ignores partitions whose assignment has ended.
    func store(_ offsets: [(partition: AssignedPartition, next: CommittedOffset)]) {
        for (partition, next) in offsets {
            if let source = partitions.source(partition) {
                source.offsets.uncommitted = next
            } else {
                staleOffsets += 1
            }
        }
    }

    /// Commits the stored offsets, and waits for the broker's answer until `end`. Joins a commit that is in progress,
    /// and begins another one if offsets were stored after that one began.
    /// - Parameter check: Throws if no commit is allowed now. Called before each commit.
    /// - Throws: Why a stored offset was not committed.
    func commit(before end: Instant, check: () throws(KafkaError) -> Void) async throws(KafkaError) {
        let wanted = begun + 1
        while answered < wanted, !committable.isEmpty {
            try check()
            if begun == answered { try begin() }

            // The result of a commit that began before this call does not cover offsets stored since.
            let current = begun
            if let error = await answer(to: current, before: end), current >= wanted || end <= loop.now { throw error }
        }
    }

    /// The partitions with a stored, uncommitted offset. Excludes a topic that was missing within the last minute, and
    /// a log that ended before its offset. A topic created again must not receive the offsets of its predecessor.
    private var committable: [PartitionSource] {
        partitions.inOrder.filter {
            $0.offsets.uncommitted != nil && $0.missingSince.map { loop.now - $0 >= .seconds(60) } ?? true
                && !hasEnded($0)
        }
    }

    /// True if a log ended before the last read offset, until `KafkaConsumer.decide` has decided how reading continues.
    private func hasEnded(_ source: PartitionSource) -> Bool {
        if case .some = source.rewound { return !source.isPaused }
        return client.offsetResets.hasReset(of: source.partition.id, beyond: source.nextOffset)
    }

    /// Why the brokers reject offset commits of single partitions. Excludes logs that ended early, because the error
    /// may not apply to the log that is read next.
    var refusals: [AssignedPartition: KafkaError] {
        partitions.inOrder.reduce(into: [:]) { $0[$1.partition] = hasEnded($1) ? nil : $1.commitRefusal }
    }

    /// Begins a commit with one request per topic, because librdkafka reports the error of one partition for all
    /// partitions of a request (`rd_kafka_cgrp_update_committed_offsets`).
    private func begin() throws(KafkaError) {
        requested = [:]
        for source in committable { requested[source.partition] = source.offsets.uncommitted }
        for offsets in Dictionary(grouping: requested, by: \.key.id.topic).values {
            try client.requestCommit(of: offsets.map { (id: $0.key.id, next: $0.value) })
            awaited += 1
        }
        (begun, lastError) = (begun + 1, nil)
    }

    /// - Parameter commit: The number of the current commit, from 1.
    private func answer(to commit: Int, before end: Instant) async -> KafkaError? {
        lastWaiter += 1
        let waiter = lastWaiter
        var timer: TimerID?

        let error = await withCheckedContinuation { continuation in
            guard answered < commit else { return continuation.resume(returning: lastError) }
            waiters[waiter] = continuation
            timer = loop.schedule(at: end) { [weak self] in
                let error = KafkaError(.timedOut, "commit offsets: no answer in time")
                self?.waiters.removeValue(forKey: waiter)?.resume(returning: error)
            }
        }

        if let timer { loop.cancel(timer) }
        return error
    }

    /// Handles the broker's answer to one request of the current commit.
    /// - Parameters:
    ///   - answer: Why the broker rejected single partitions; `nil` for those that it committed.
    ///   - error: Why offsets were not committed for a reason other than their topic.
    func noteAnswer(_ answer: [TopicPartition: KafkaError?], _ error: KafkaError?) {
        for (id, refusal) in answer {
            guard let source = partitions.source(id), let asked = requested[source.partition] else { continue }
            source.commitRefusal = refusal
            if refusal?.kind == .unknownTopicOrPartition { source.missingSince = loop.now }
            guard refusal == nil else { continue }
            (source.offsets.committed, source.missingSince) = (asked.offset, nil)
            // An offset stored since then waits for the next commit.
            if source.offsets.uncommitted == asked { source.offsets.uncommitted = nil }
        }
        lastError = lastError ?? error
        awaited -= 1
        guard awaited == 0 else { return }
        answered = begun
        endWaits(with: lastError)
    }

    /// Ends all waits for a commit.
    func endWaits(with error: KafkaError?) {
        let ended = waiters.values
        waiters.removeAll()
        for waiter in ended { waiter.resume(returning: error) }
    }
}
