/// A mistake that can be put back into the worker, so that the simulation shows that it would find it.
///
/// A normal build contains none of them: `isPutBack(_:)` is `false` there, and the compiler leaves out what depends on it.
/// `make simulate-defects` builds with `LOCSEARCH_DEFECTS=1` and puts them back one at a time. docs/internals/simulation.md says how
/// many schedules each needs.
@usableFromInline
package enum Defect: String, CaseIterable, Sendable {
    // MARK: Offsets and requests

    /// The offset that is committed lies one record beyond the last one that is delivered.
    case offsetOneTooFar = "offset-one-too-far"
    /// The offset that is committed with a transaction lies one record beyond the last one of the transaction.
    case transactionOffsetOneTooFar = "transaction-offset-one-too-far"
    /// The offset behind a delivered record is committed although an earlier record is not delivered yet.
    case offsetPassesGaps = "offset-passes-gaps"
    /// An at-least-once request counts as delivered when its outcome is handed over, not when the brokers confirm it.
    case finishedAtHandOver = "finished-at-hand-over"
    /// A record that the producer could not deliver counts as delivered.
    case failedRecordDropped = "failed-record-dropped"
    /// A dead letter is not waited for before the offset behind its record is committed.
    case deadLetterNotAwaited = "dead-letter-not-awaited"
    /// Only the writer that tried a topic first goes on when the topic takes records again.
    case retryLeavesOthersAsleep = "retry-leaves-others-asleep"
    /// A request that is abandoned never returns its place among those in flight.
    case placeNotReturned = "place-not-returned"
    /// Outcomes leave as they are done although an order was promised.
    case outOfTurn = "out-of-turn"
    /// A request that is dropped keeps its turn, so that the next outcome of its key waits for ever.
    case turnKept = "turn-kept"

    /// The oldest request of a partition waits for room that the outcomes behind it take.
    case reserveMissing = "reserve-missing"

    // MARK: Partitions that come and go

    /// A partition is given back without waiting for what is in flight on it.
    case revocationDoesNotWait = "revocation-does-not-wait"
    /// Finished work is not committed at a revocation before the partition goes.
    case revocationDoesNotCommit = "revocation-does-not-commit"
    /// A partition that was taken away without a word is worked on as before.
    case lostPartitionKept = "lost-partition-kept"
    /// The outcomes of a partition that was taken away stay in memory, and count against the intake's bounds.
    case readyNotForgotten = "ready-not-forgotten"
    /// A partition is given up while offsets of it are on their way to the brokers, in a transaction.
    case offsetsBehindRevocation = "offsets-behind-revocation"
    /// A draining lane leaves without waiting for what is in flight.
    case drainDoesNotWait = "drain-does-not-wait"

    /// Open and done records of a deleted topic count for the one that was made in its place.
    case formerTopicCounts = "former-topic-counts"

    // MARK: Transactions

    /// A wake-up that comes while a transaction is under way is lost.
    case wakeUpLost = "wake-up-lost"
    /// A transaction is committed although partitions of it were taken away since it began.
    case ownershipUnchecked = "ownership-unchecked"
    /// A transaction takes ready outcomes past one that is not ready.
    case transactionPassesGaps = "transaction-passes-gaps"
    /// A commit that failed counts as done.
    case failedCommitIsSuccess = "failed-commit-is-success"
    /// A producer that takes the place of a failed one publishes everything again, without asking what is committed.
    case replacementPublishesAll = "replacement-publishes-all"
    /// A producer that takes the place of a failed one takes everything for published.
    case replacementDropsAll = "replacement-drops-all"
    /// Outcomes of an aborted transaction count as delivered.
    case abortedIsDelivered = "aborted-is-delivered"

    /// With exactly-once, commits say what is done beyond an offset while workers that do not read it are there.
    case doneSetsBesideOlder = "done-sets-beside-older"

    // MARK: Records that are refused, and gaps

    /// An outcome that is too large for its topic counts as delivered.
    case largeOutcomeDropped = "large-outcome-dropped"
    /// Every outcome of a batch that is too large is shortened, whether or not it fits by itself.
    case batchShortened = "batch-shortened"
    /// An outcome that goes alone is not looked for when the ones before it are committed.
    case aloneForgotten = "alone-forgotten"
    /// A gap between offsets, as compaction and markers leave them, ends the run of what may be committed.
    case gapStopsCommits = "gap-stops-commits"

    /// Reading goes on at the end of a partition when the offset that is asked for was deleted.
    case resetToEnd = "reset-to-end"

    // MARK: Records that crash workers

    /// A record is set aside once one process has ended while it ran the record alone.
    case setAsideTooEarly = "set-aside-too-early"
    /// A record counts as running alone although others are under way in its process.
    case aloneBesideOthers = "alone-beside-others"
    /// An owner of a partition forgets how many owners have ended before it without a goodbye.
    case triesNotKept = "tries-not-kept"
    /// An owner that ends in order leaves its try behind.
    case triesNotTakenBack = "tries-not-taken-back"
    /// Records begin before the brokers have the note of them.
    case noteNotAwaited = "note-not-awaited"
    /// A partition is not read on after the records that it held have begun.
    case heldPartitionForgotten = "held-partition-forgotten"
    /// A producer goes on after it has aborted a transaction whose records were purged.
    case purgingProducerKept = "purging-producer-kept"
    /// Calls that wait begin although the breaker has opened since they came.
    case openingUnnoticed = "opening-unnoticed"
    /// A text counts beside an offset to which a tool has copied it.
    case copiedTextCounts = "copied-text-counts"
    /// A process that crashes by a fault of its own does not say which record it ran alone.
    case crashSaysNothing = "crash-says-nothing"

    // MARK: The rate

    /// A lane keeps its share of the rate after its partitions were revoked.
    case shareKeptAfterRevocation = "share-kept-after-revocation"
    /// A share that grows comes with a full bucket.
    case gainComesFull = "gain-comes-full"
    /// A lessor goes on using quota that it has leased out.
    case lessorKeepsLease = "lessor-keeps-lease"
    /// The new owner of a partition uses its share at once.
    case newOwnerDoesNotWait = "new-owner-does-not-wait"
    /// A lease has no end for the lessee.
    case leaseNeverEnds = "lease-never-ends"
    /// A member leases out nothing of the quota for which it has no demand.
    case nothingLeased = "nothing-leased"
    /// An empty bucket, or one that is closed for `Retry-After`, holds nothing back.
    case bucketNeverEmpty = "bucket-never-empty"

    // MARK: The budget

    /// Calls of a budget count as granted when they are asked for, not when the grant is read back.
    case grantNotAwaited = "grant-not-awaited"
    /// Calls that yesterday's budget granted are made today.
    case yesterdaysCalls = "yesterdays-calls"
    /// A message that arrives twice changes the ledger twice.
    case messageCountsTwice = "message-counts-twice"
    /// Calls that are given back stay in the hands of the member that gives them back.
    case givenBackAndKept = "given-back-and-kept"

    /// Half of all members go on as before when a person orders another budget.
    case orderIgnored = "order-ignored"

    // MARK: Sessions

    /// A search that a newer one of its session has ended says what became of it, as if it had not been ended.
    case supersededGoesOn = "superseded-goes-on"
    /// The newer one of two searches of a session is ended.
    case newestSuperseded = "newest-superseded"

    // MARK: Calls

    /// The provider is called for a request whose lifetime is over.
    case lifetimeUnchecked = "lifetime-unchecked"
    /// A request that waits for a breaker never looks at it again.
    case heldNeverLooks = "held-never-looks"
    /// The queue does not look at its waiting calls when a token comes.
    case serveForgotten = "serve-forgotten"
    /// A call that is cancelled never returns its permit of the adaptive limit.
    case slotNotReturned = "slot-not-returned"
}

#if DEFECTS
    extension Defect {
        /// The one that is put back.
        ///
        /// Unsafe because nothing protects it: the simulation's program sets it once, before it starts anything else.
        @usableFromInline nonisolated(unsafe) package static var current: Defect?
    }
#endif

/// Returns whether a defect is put back. Always `false` in a normal build, known to the compiler.
@inlinable @inline(__always)
package func isPutBack(_ defect: Defect) -> Bool {
    #if DEFECTS
        return unsafe Defect.current == defect
    #else
        return false
    #endif
}
