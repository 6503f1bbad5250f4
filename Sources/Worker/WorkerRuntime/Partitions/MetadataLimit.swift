internal import Kafka
internal import Logging

/// How many bytes a lane writes beside each committed offset: `worker.doneSetBytes`, or less where the brokers take less.
///
/// With transactions it is 0 until the brokers have shown that they keep what is written there, because an outcome that is published
/// beyond the offset would be published again where they do not. Some brokers that speak Kafka's protocol drop it without an error.
///
/// Confined to its lane; not `Sendable`.
final class MetadataLimit {
    private enum Proof {
        case needed
        case given
        case failed
    }

    private let log: Logger
    /// `worker.doneSetBytes=0`: no partition waits for room, because there never is any.
    private let isOff: Bool
    /// The most bytes that the brokers take, as far as that is known.
    private(set) var allowed: Int
    private var proof: Proof

    /// - Parameter needsProof: `true` with transactions.
    init(_ bytes: Int, needsProof: Bool = false, log: Logger) {
        isOff = bytes == 0
        allowed = bytes
        proof = needsProof ? .needed : .given
        self.log = log
    }

    /// 0: nothing is written of what is done, and only unbroken runs are committed.
    var bytes: Int { proof == .given ? allowed : 0 }

    /// How many bytes notes about crashes may take; 0 where there are none. These bytes are kept for them: what is done must not grow into
    /// them, because a transaction cannot leave it out again.
    ///
    /// Notes are written before the brokers have shown that they keep them. Notes that are dropped do no harm. Otherwise a record that
    /// ends each process before its first transaction would never be found.
    var bytesOfNotes: Int { proof == .failed || allowed < 128 ? 0 : max(CrashNotes.bytesWithoutRunning, allowed / 4) }

    /// True while a commit is to carry a text by which the brokers can show that they keep it.
    var needsProof: Bool { proof == .needed && allowed > 0 }

    /// Notes a text that was read back.
    /// - Parameter committed: An offset that this program has committed with a text.
    func noteReadBack(_ committed: CommittedOffset) {
        guard proof == .needed else { return }
        if case .known = CommitMetadata.read(committed) {
            proof = .given
        } else {
            proof = .failed
            log.warning(
                """
                the brokers keep nothing beside a committed offset: outcomes wait for earlier requests of their partition; to end \
                this warning, set worker.doneSetBytes=0
                """)
        }
    }

    /// Returns the part of the room for what is done that a text takes, from 0 to 1; 2 where something was left out of it.
    ///
    /// Notes about crashes are left out of account: a partition that waited for those to become shorter would wait for ever.
    func use(of text: DoneSet.Text) -> Double {
        guard text.cut == nil else { return isOff ? 0 : 2 }
        guard bytes > 0, text.bytes > 0 else { return 0 }
        return min(2, Double(text.bytes) / Double(max(1, bytes - text.others)))
    }

    /// Halves the limit where the brokers have refused a commit for the length of its metadata.
    /// - Returns: `false` for another error.
    func shrink(after error: KafkaError) -> Bool {
        guard error.isMetadataTooLarge else { return false }
        if allowed == 0 { return true }

        allowed = allowed < 64 ? 0 : allowed / 2
        log.warning(
            """
            the brokers keep less beside an offset than worker.doneSetBytes: what is done behind a slow request may be repeated \
            after a crash; set worker.doneSetBytes to the brokers' offset.metadata.max.bytes
            """,
            metadata: ["bytes": "\(allowed)"])
        return true
    }
}
