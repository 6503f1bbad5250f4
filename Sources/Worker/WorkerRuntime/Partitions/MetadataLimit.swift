internal import Kafka
internal import Logging

/// The most bytes of metadata that a lane commits with each offset: `worker.doneSetBytes`, or less if the brokers
/// accept less.
///
/// With transactions it is 0 until the brokers have shown that they store metadata. Without stored metadata, an outcome
/// published beyond the offset would be published again. Some brokers that implement Kafka's protocol drop metadata
/// without an error.
///
/// Confined to its lane; not `Sendable`.
final class MetadataLimit {
    private enum Proof {
        case needed
        case given
        case failed
    }

    private let log: Logger
    /// True for `worker.doneSetBytes=0`: no partition waits for room, because there never is any.
    private let isOff: Bool
    /// The most bytes that the brokers accept, as far as is known.
    private(set) var allowed: Int
    private var proof: Proof

    /// - Parameter needsProof: `true` with transactions.
    init(_ bytes: Int, needsProof: Bool = false, log: Logger) {
        isOff = bytes == 0
        allowed = bytes
        proof = needsProof ? .needed : .given
        self.log = log
    }

    /// The most bytes of metadata. 0: no done-set is written, and only unbroken runs are committed.
    var bytes: Int { proof == .given ? allowed : 0 }

    /// The bytes reserved for crash notes; 0 if none are written. The done-set must not use these bytes, because a
    /// transaction cannot remove it again.
    ///
    /// Crash notes are written before the brokers have shown that they store metadata. Otherwise a record that crashes
    /// each process before its first transaction would never be found. If the notes are dropped, that does no harm.
    var bytesOfNotes: Int { proof == .failed || allowed < 128 ? 0 : max(CrashNotes.bytesWithoutRunning, allowed / 4) }

    /// True while a commit should carry a text with which the brokers can show that they store metadata.
    var needsProof: Bool { proof == .needed && allowed > 0 }

    /// Records metadata that was read back.
    /// - Parameter committed: an offset that this program has committed with metadata.
    func noteReadBack(_ committed: CommittedOffset) {
        guard proof == .needed else { return }
        if case .known = CommitMetadata.read(committed) {
            proof = .given
        } else {
            proof = .failed
            log.warning(
                """
                the brokers do not store metadata with a committed offset: outcomes wait for earlier requests of their partition; \
                to disable this warning, set worker.doneSetBytes=0
                """)
        }
    }

    /// Returns the used fraction of the room for the done-set, from 0 to 1; 2 if a part of the set did not fit.
    ///
    /// Crash notes are not counted: a partition that waited for them to shrink would wait forever.
    func use(of text: DoneSet.Text) -> Double {
        guard text.cut == nil else { return isOff ? 0 : 2 }
        guard bytes > 0, text.bytes > 0 else { return 0 }
        return min(2, Double(text.bytes) / Double(max(1, bytes - text.others)))
    }

    /// Halves the limit if the brokers refused a commit because its metadata is too long.
    /// - Returns: `false` for any other error.
    func shrink(after error: KafkaError) -> Bool {
        guard error.isMetadataTooLarge else { return false }
        if allowed == 0 { return true }

        allowed = allowed < 64 ? 0 : allowed / 2
        log.warning(
            """
            the brokers store less metadata with an offset than worker.doneSetBytes: requests finished after a slow one may be \
            repeated after a crash; set worker.doneSetBytes to the brokers' offset.metadata.max.bytes
            """,
            metadata: ["bytes": "\(allowed)"])
        return true
    }
}
