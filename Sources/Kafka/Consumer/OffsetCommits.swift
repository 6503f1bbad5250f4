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
    /// How the commit that was answered last ended.
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
        while answered < wanted, partitions.inOrder.contains(where: { $0.uncommitted != nil }) {
            try check()
            if begun == answered { try begin() }

            // How a commit ended that began before this call says nothing about what was stored since.
            let current = begun
            if let error = await answer(to: current, before: end), current >= wanted || end <= loop.now { throw error }
        }
    }

    private func begin() throws(KafkaError) {
        requested = [:]
        for source in partitions.inOrder { requested[source.partition] = source.uncommitted }
        try client.requestCommit(of: requested.map { (id: $0.key.id, next: $0.value) })
        begun += 1
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

    /// Takes the broker's answer to the commit that is under way.
    func noteAnswer(_ confirmed: [(id: TopicPartition, offset: Int64)], _ error: KafkaError?) {
        for (id, offset) in confirmed {
            guard let source = partitions.source(id) else { continue }
            source.committed = offset
            // What was stored since waits for the next commit.
            if source.uncommitted == requested[source.partition] { source.uncommitted = nil }
        }
        answered = begun
        lastError = error
        endWaits(with: error)
    }

    /// Ends every wait for a commit.
    func endWaits(with error: KafkaError?) {
        let ended = waiters.values
        waiters.removeAll()
        for waiter in ended { waiter.resume(returning: error) }
    }
}
