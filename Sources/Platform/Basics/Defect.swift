/// A deliberate defect that can be activated in the worker, to check that the simulation finds it.
///
/// A normal build contains none of them: `isPutBack(_:)` is always `false`, and the compiler removes the code that
/// depends on it. `make simulate-defects` builds with `LOCSEARCH_DEFECTS=1` and activates them one at a time. The
/// number of schedules that each needs is listed in docs/internals/simulation.md.
@usableFromInline
package enum Defect: String, CaseIterable, Sendable {
    // MARK: Offsets and requests

    /// The committed offset is one record past the last delivered one.
    case offsetOneTooFar = "offset-one-too-far"
    /// The offset committed with a transaction is one record past the last one in the transaction.
    case transactionOffsetOneTooFar = "transaction-offset-one-too-far"
    /// The offset after a delivered record is committed although an earlier record is not delivered yet.
    case offsetPassesGaps = "offset-passes-gaps"
    /// An at-least-once request counts as delivered when its outcome is enqueued, not when its delivery report arrives.
    case finishedAtHandOver = "finished-at-hand-over"
    /// A record that the producer could not deliver counts as delivered.
    case failedRecordDropped = "failed-record-dropped"
    /// The offset after a dead-lettered record is committed before the dead letter is delivered.
    case deadLetterNotAwaited = "dead-letter-not-awaited"
    /// When a topic accepts records again, only the writer that retried first resumes.
    case retryLeavesOthersAsleep = "retry-leaves-others-asleep"
    /// An abandoned request never returns its in-flight permit.
    case placeNotReturned = "place-not-returned"
    /// Outcomes are published in order of completion, although an order was promised.
    case outOfTurn = "out-of-turn"
    /// A dropped request keeps its position, so the next outcome of its key waits forever.
    case turnKept = "turn-kept"

    /// The oldest request of a partition waits for memory that is held by the outcomes of later requests.
    case reserveMissing = "reserve-missing"

    // MARK: Assignment and revocation

    /// A partition is released without waiting for its requests in flight.
    case revocationDoesNotWait = "revocation-does-not-wait"
    /// Finished requests are not committed when their partition is revoked.
    case revocationDoesNotCommit = "revocation-does-not-commit"
    /// A lost partition is still processed.
    case lostPartitionKept = "lost-partition-kept"
    /// The outcomes of a revoked partition stay in memory and count against the intake's limits.
    case readyNotForgotten = "ready-not-forgotten"
    /// A partition is released while a transaction still sends its offsets to the brokers.
    case offsetsBehindRevocation = "offsets-behind-revocation"
    /// A draining lane stops without waiting for requests in flight.
    case drainDoesNotWait = "drain-does-not-wait"

    /// Open and done records of a deleted topic count for the topic created in its place.
    case formerTopicCounts = "former-topic-counts"

    // MARK: Transactions

    /// A wake-up during a transaction is lost.
    case wakeUpLost = "wake-up-lost"
    /// A transaction is committed although some of its partitions were revoked since it began.
    case ownershipUnchecked = "ownership-unchecked"
    /// A transaction includes ready outcomes after one that is not ready.
    case transactionPassesGaps = "transaction-passes-gaps"
    /// A failed commit counts as successful.
    case failedCommitIsSuccess = "failed-commit-is-success"
    /// A producer that replaces a failed one publishes everything again, without checking what is committed.
    case replacementPublishesAll = "replacement-publishes-all"
    /// A producer that replaces a failed one treats everything as published.
    case replacementDropsAll = "replacement-drops-all"
    /// Outcomes of an aborted transaction count as delivered.
    case abortedIsDelivered = "aborted-is-delivered"

    /// With exactly-once, commits list the done requests after the offset although some workers cannot read this list.
    case doneSetsBesideOlder = "done-sets-beside-older"

    // MARK: Rejected records, and gaps

    /// An outcome that is too large for its topic counts as delivered.
    case largeOutcomeDropped = "large-outcome-dropped"
    /// Every outcome of an oversized batch is truncated, even if it fits without the others.
    case batchShortened = "batch-shortened"
    /// An outcome that needs a separate transaction is not sent after the earlier ones are committed.
    case aloneForgotten = "alone-forgotten"
    /// A gap between offsets, left by compaction or transaction markers, stops the commits.
    case gapStopsCommits = "gap-stops-commits"

    /// Reading continues at the end of a partition if the requested offset was deleted.
    case resetToEnd = "reset-to-end"

    // MARK: Records that crash workers

    /// A record is set aside after only one process has crashed while it ran the record exclusively.
    case setAsideTooEarly = "set-aside-too-early"
    /// A record counts as running exclusively although others are in flight in its process.
    case aloneBesideOthers = "alone-beside-others"
    /// A partition's owner loses the number of earlier owners that crashed.
    case triesNotKept = "tries-not-kept"
    /// An owner that stops in an orderly way does not remove its crash note.
    case triesNotTakenBack = "tries-not-taken-back"
    /// Records begin before the brokers have stored their crash notes.
    case noteNotAwaited = "note-not-awaited"
    /// A paused partition is not resumed after its records have begun.
    case heldPartitionForgotten = "held-partition-forgotten"
    /// A producer is still used after it aborted a transaction whose records were purged.
    case purgingProducerKept = "purging-producer-kept"
    /// Waiting calls begin although the breaker has opened since they were queued.
    case openingUnnoticed = "opening-unnoticed"
    /// Offset metadata counts although a tool has copied it to another offset.
    case copiedTextCounts = "copied-text-counts"
    /// A process that crashes does not commit which record it ran exclusively.
    case crashSaysNothing = "crash-says-nothing"

    // MARK: The rate limit

    /// A lane keeps its share of the rate limit after its partitions were revoked.
    case shareKeptAfterRevocation = "share-kept-after-revocation"
    /// A share that grows starts with a full token bucket.
    case gainComesFull = "gain-comes-full"
    /// A lessor still uses quota that it has leased out.
    case lessorKeepsLease = "lessor-keeps-lease"
    /// The new owner of a partition uses its share at once.
    case newOwnerDoesNotWait = "new-owner-does-not-wait"
    /// A lease never ends for the lessee.
    case leaseNeverEnds = "lease-never-ends"
    /// A member leases out none of the quota for which it has no demand.
    case nothingLeased = "nothing-leased"
    /// An empty token bucket, or one closed for `Retry-After`, delays no call.
    case bucketNeverEmpty = "bucket-never-empty"

    // MARK: The daily budget

    /// Calls of a budget count as granted when they are requested, not when the grant is read from the log.
    case grantNotAwaited = "grant-not-awaited"
    /// Calls granted by yesterday's budget are made today.
    case yesterdaysCalls = "yesterdays-calls"
    /// A duplicate message changes the ledger twice.
    case messageCountsTwice = "message-counts-twice"
    /// A member can still use calls that it has returned.
    case givenBackAndKept = "given-back-and-kept"

    /// Half of all members ignore an operator's change of the budget.
    case orderIgnored = "order-ignored"

    // MARK: Sessions

    /// A search that was superseded by a newer one of its session still publishes its own outcome.
    case supersededGoesOn = "superseded-goes-on"
    /// The newer of two searches of a session is superseded.
    case newestSuperseded = "newest-superseded"

    // MARK: Calls

    /// The provider is called for a request whose lifetime has expired.
    case lifetimeUnchecked = "lifetime-unchecked"
    /// A request that waits for an open breaker never checks it again.
    case heldNeverLooks = "held-never-looks"
    /// The queue does not serve its waiting calls when a token becomes available.
    case serveForgotten = "serve-forgotten"
    /// A cancelled call never returns its permit of the adaptive limit.
    case slotNotReturned = "slot-not-returned"
}

#if DEFECTS
    extension Defect {
        /// The active defect.
        ///
        /// Unsafe because it has no synchronization: the simulation sets it once, before it starts anything else.
        @usableFromInline nonisolated(unsafe) package static var current: Defect?
    }
#endif

/// Returns whether a defect is active. In a normal build it is always `false`, which the compiler knows.
@inlinable @inline(__always)
package func isPutBack(_ defect: Defect) -> Bool {
    #if DEFECTS
        return unsafe Defect.current == defect
    #else
        return false
    #endif
}
