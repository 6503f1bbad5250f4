internal import Basics
internal import EventLoop

/// Stores offsets and commits them, one commit at a time. Belongs to the consumer's actor.
final class OffsetCommits {
    private let client: ClientHandle
    private let loop: EventLoop
    private let partitions: PartitionSources

    /// How many commits were asked for, and how many were answered: at most one more and less.
    private(set) var begun = 0
    private var answered = 0
    /// The requests of the commit under way that are not answered yet.
    private var awaited = 0
    /// How the commit that was answered last ended, or the one under way as far as it is answered.
    private var lastError: KafkaError?
    private var waiters: [Int: CheckedContinuation<KafkaError?, Never>] = [:]
    private var lastWaiter = 0
    /// How many offsets came for an assignment that was over, and were left out.
    private(set) var staleOffsets = 0
    /// The offsets that the commit under way names.
    private var requested: [AssignedPartition: CommittedOffset] = [:]

    init(_ client: ClientHandle, loop: EventLoop, partitions: PartitionSources) {
        self.client = client
        self.loop = loop
        self.partitions = partitions
    }

    /// The offsets that the broker has confirmed, for each partition that has one.
    var confirmed: [AssignedPartition: Int64] {
        var offsets: [AssignedPartition: Int64] = [:]
        for source in partitions.inOrder { offsets[source.partition] = source.committed }
        return offsets
    }

    /// Notes where to continue, for the next commit. Partitions whose assignment is over are left out.
    func store(_ offsets: [(partition: AssignedPartition, next: CommittedOffset)]) {
        for (partition, next) in offsets {
            if let source = partitions.source(partition) { source.uncommitted = next } else { staleOffsets += 1 }
        }
    }

    /// Commits what is stored, and waits for the broker's answer until `end`. Joins a commit that is under way, and begins
    /// another if something was stored after that one began.
    /// - Parameter check: Throws when nothing may be committed at the moment. Called before each commit.
    /// - Throws: Why something that was stored is not committed.
    func commit(
        before end: Instant, check: () throws(KafkaError) -> Void
    ) async throws(KafkaError) {
        let wanted = begun + 1
        while answered < wanted, !committable.isEmpty {
            try check()
            if begun == answered { try begin() }

            // How a commit ended that began before this call says nothing about what was stored since.
            let current = begun
            if let error = await answer(to: current, before: end), current >= wanted || end <= loop.now { throw error }
        }
    }

    /// What is stored and not committed, except of a topic that was missing in the last minute, and of a log that has ended: a topic that
    /// is made in the place of another one must not get the offsets of that.
    private var committable: [PartitionSource] {
        partitions.inOrder.filter {
            $0.uncommitted != nil && $0.missingSince.map { loop.now - $0 >= .seconds(60) } ?? true && !hasEnded($0)
        }
    }

    /// True where a log ended before what was read of it, until it is known how reading goes on.
    private func hasEnded(_ source: PartitionSource) -> Bool {
        if source.rewound != nil { return !source.isPaused }
        return client.offsetResets.hasReset(of: source.partition.id, beyond: source.nextOffset)
    }

    /// Why the brokers refuse to commit offsets of single partitions. What they refused of a log that has ended says nothing of the next one,
    /// which is to be read.
    var refusals: [AssignedPartition: KafkaError] {
        partitions.inOrder.reduce(into: [:]) { $0[$1.partition] = hasEnded($1) ? nil : $1.commitRefusal }
    }

    /// Each topic has a request of its own: librdkafka gives the error of one partition to all of a request
    /// (`rd_kafka_cgrp_update_committed_offsets`).
    private func begin() throws(KafkaError) {
        requested = [:]
        for source in committable { requested[source.partition] = source.uncommitted }
        for offsets in Dictionary(grouping: requested, by: \.key.id.topic).values {
            try client.requestCommit(of: offsets.map { (id: $0.key.id, next: $0.value) })
            awaited += 1
        }
        (begun, lastError) = (begun + 1, nil)
    }

    /// - Parameter commit: The one that is under way, counted from 1.
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

    /// Takes the broker's answer to a request of the commit that is under way.
    /// - Parameters:
    ///   - answer: Why the broker has refused to commit single partitions; `nil` for those whose offset it has confirmed.
    ///   - error: Why something is not committed for another reason than its topic's.
    func noteAnswer(_ answer: [TopicPartition: KafkaError?], _ error: KafkaError?) {
        for (id, refusal) in answer {
            guard let source = partitions.source(id), let asked = requested[source.partition] else { continue }
            source.commitRefusal = refusal
            if refusal?.kind == .unknownTopicOrPartition { source.missingSince = loop.now }
            guard refusal == nil else { continue }
            source.committed = asked.offset
            // What was stored since waits for the next commit.
            if source.uncommitted == asked { source.uncommitted = nil }
        }
        lastError = lastError ?? error
        awaited -= 1
        guard awaited == 0 else { return }
        answered = begun
        endWaits(with: lastError)
    }

    /// Ends every wait for a commit.
    func endWaits(with error: KafkaError?) {
        let ended = waiters.values
        waiters.removeAll()
        for waiter in ended { waiter.resume(returning: error) }
    }
}
