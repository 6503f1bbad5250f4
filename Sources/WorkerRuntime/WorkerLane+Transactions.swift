internal import Kafka
internal import Logging

/// `worker.delivery=exactly-once`: outcomes wait until every earlier record of their partition has one too, then leave
/// in a transaction together with the offset behind them. Whoever reads committed records sees each outcome once,
/// whatever crashes: either both are there or neither.
///
/// Transactions follow each other without a fixed interval: what becomes ready while one is under way is the next one's.
/// Each adds the member's place in the group (KIP-447), so that a worker that lost its partitions, and does not know it
/// yet, cannot commit for them.
extension WorkerLane {
    /// What the lane's transactions need to remember.
    struct Transactions {
        var task: Task<Void, Never>?
        var waiter: CheckedContinuation<Void, Never>?
        var isEnding = false
        var hasReady = false
        /// What cannot be committed by then is left to whoever comes next; `nil`: nobody has asked the worker to end.
        var end: ContinuousClock.Instant?

        var isOver: Bool { end.map { .now >= $0 } ?? false }
    }

    /// Outcomes of one transaction at most, so that one that must be done again is done soon.
    private static var largestTransaction: Int { 1000 }
    /// What is ready when the worker's grace is over has so much time to be committed.
    private static var lastInterval: Duration { .seconds(5) }
    /// How long outcomes gather at least: a transaction costs four round trips to the brokers whatever it holds.
    private static var shortestInterval: Duration { .milliseconds(10) }

    func startTransactions() async throws {
        guard configuration.delivery == .exactlyOnce else { return }
        try await producer.initTransactions()
        transactions.task = Task(executorPreference: loop) { await self.transact() }
    }

    /// Has the brokers' answers waited for no longer than this.
    /// - Parameter end: of the worker's grace.
    func limitTransactions(to end: ContinuousClock.Instant) async {
        guard configuration.delivery == .exactlyOnce else { return }
        let end = failure == nil ? end + Self.lastInterval : .now
        transactions.end = end
        await producer.endTransactions(by: end)
    }

    /// Returns once what was released is committed, or given up.
    func endTransactions() async {
        guard let task = transactions.task else { return }
        transactions.isEnding = true
        wakeTransactions()
        await task.value
    }

    /// An outcome is there: from now on it is a transaction's.
    func release(_ flight: Flight, _ outgoing: Outgoing) {
        guard owned[flight.partition.id.id] === flight.partition else { return finish(flight, delivered: false) }
        flight.outgoing = outgoing
        if flight.partition.tracker.finish(flight.slot) { wakeTransactions() }
    }

    /// Forgets what was ready on a partition that is no longer ours: whoever has it now does it again.
    func dropReady(of partition: OwnedPartition) {
        for flight in partition.flights.values where flight.outgoing != nil {
            meters.wasted(flight.outgoing?.calls ?? 0)
            flight.outgoing = nil
            finish(flight, delivered: false)
        }
    }

    private func wakeTransactions() {
        transactions.hasReady = true
        guard let waiter = transactions.waiter else { return }
        transactions.waiter = nil
        waiter.resume()
    }

    private func transact() async {
        while failure == nil, !transactions.isOver {
            if !transactions.hasReady {
                if transactions.isEnding { return }
                await withCheckedContinuation { waiter in
                    if transactions.hasReady || transactions.isEnding {
                        waiter.resume()
                    } else {
                        transactions.waiter = waiter
                    }
                }
                continue
            }
            transactions.hasReady = false
            let next = ContinuousClock.now + Self.shortestInterval
            await commitReady()
            if !transactions.isEnding { try? await Task.sleep(until: next, clock: .continuous) }
        }
    }

    /// What may leave: of each partition the unbroken run of outcomes, oldest first.
    private func ready() -> [Flight] {
        var batch: [Flight] = []
        for partition in owned.values {
            guard let frontier = partition.tracker.frontier else { continue }
            batch += partition.flights.values
                .filter { $0.outgoing != nil && $0.offset < frontier }
                .sorted { $0.offset < $1.offset }
                .prefix(Self.largestTransaction - batch.count)
            if batch.count >= Self.largestTransaction {
                transactions.hasReady = true  // the rest
                break
            }
        }
        return batch
    }

    /// Commits what is ready; what fails for the moment is aborted and done again with what is ready and ours by then.
    private func commitReady() async {
        var pause = Duration.milliseconds(100)
        while failure == nil {
            // Taken before the batch is chosen: should its partitions go to others meanwhile, the broker refuses this place.
            let member = await consumer.membership
            let batch = ready()
            guard let member, !batch.isEmpty else { return }
            var underway: [Underway] = []
            do throws(KafkaError) {
                try await producer.beginTransaction()
                for flight in batch {
                    guard var outgoing = flight.outgoing else { continue }
                    let receipts = try await handOver(&outgoing, of: flight, to: producer)
                    underway.append(Underway(flight: flight, outgoing: outgoing, receipts: receipts))
                }
                try await producer.sendOffsets(Self.offsets(behind: batch), as: member)
                try await producer.commitTransaction()
                for sent in underway {
                    for receipt in sent.receipts { _ = try await producer.confirm(receipt) }
                }
                for flight in batch where flight.outgoing != nil {
                    flight.outgoing = nil
                    finish(flight, delivered: true)
                }
                return
            } catch {
                guard await abort(after: error, underway) else { return }
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(2))
        }
    }

    private static func offsets(behind batch: [Flight]) -> [(partition: TopicPartition, next: Int64)] {
        var next: [TopicPartition: Int64] = [:]
        for flight in batch { next[flight.partition.id.id] = flight.offset + 1 }
        return next.map { (partition: $0.key, next: $0.value) }
    }

    /// A flight's records within the transaction.
    private struct Underway {
        let flight: Flight
        var outgoing: Outgoing
        let receipts: [KafkaProducer.Receipt]
    }

    /// After the transaction was aborted. What was too large for it is for the next one as well: it goes in brief.
    private func takeBack(_ sent: Underway) async {
        var outgoing = sent.outgoing
        for (index, receipt) in sent.receipts.enumerated() {
            do throws(KafkaError) {
                _ = try await producer.confirm(receipt)
            } catch {
                // Other reasons are over with the transaction.
                try? shorten(&outgoing, index, of: sent.flight, after: error)
            }
        }
        // `nil` by now if its partition went to another member meanwhile.
        if sent.flight.outgoing != nil { sent.flight.outgoing = outgoing }
    }

    /// - Returns: whether it may be tried again.
    private func abort(after error: KafkaError, _ underway: [Underway]) async -> Bool {
        switch error.kind {
        case .fatal, .fenced, .closed:
            fail(error)
            return false
        default:
            log.warning("transaction aborted, its outcomes go into the next one", metadata: ["reason": "\(error)"])
        }
        do throws(KafkaError) {
            try await producer.abortTransaction()
        } catch {
            if transactions.isOver {
                log.warning(
                    "the brokers do not answer: what is not committed by now will be done again",
                    metadata: ["reason": "\(error)"])
            } else {
                fail(error)
            }
            return false
        }
        // Aborted with the transaction, whatever each says.
        for sent in underway { await takeBack(sent) }
        return !transactions.isOver
    }
}
