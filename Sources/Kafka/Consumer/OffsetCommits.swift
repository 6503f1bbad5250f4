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
    func store(_ offsets: [(partition: AssignedPartition, next: Int64)]) {
        let current = offsets.compactMap { entry in partitions.source(entry.partition).map { ($0, entry.next) } }
        staleOffsets += offsets.count - current.count
        guard !current.isEmpty else { return }

        client.storeOffsets(current.map { (id: $0.0.partition.id, next: $0.1) })
        for (source, next) in current { source.stored = next }
    }

    /// Commits what is stored, and waits for the broker's answer until `end`. Joins a commit that is under way, and begins
    /// another if something was stored after that one began.
    /// - Parameter check: Throws when nothing may be committed at the moment. Called before each commit.
    /// - Throws: Why something that was stored is not committed.
    func commit(
        before end: Instant, check: () throws(KafkaError) -> Void
    ) async throws(KafkaError) {
        let wanted = begun + 1
        while answered < wanted, partitions.inOrder.contains(where: { $0.hasUncommitted }) {
            try check()
            if begun == answered {
                guard try client.requestCommit() else { return }
                begun += 1
            }

            // How a commit ended that began before this call says nothing about what was stored since.
            let current = begun
            if let error = await answer(to: current, before: end), current >= wanted || end <= loop.now { throw error }
        }
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
        for (id, offset) in confirmed { partitions.source(id)?.committed = offset }
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
