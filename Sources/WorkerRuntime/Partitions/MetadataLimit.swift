internal import Kafka
internal import Logging

/// How many bytes a lane writes beside each committed offset: `worker.doneSetBytes`, or less where the brokers take less.
///
/// Confined to its lane; not `Sendable`.
final class MetadataLimit {
    private let log: Logger
    /// 0: nothing is written, and only unbroken runs are committed.
    private(set) var bytes: Int

    init(_ bytes: Int, log: Logger) {
        self.bytes = bytes
        self.log = log
    }

    /// Returns the part of the limit that a text takes.
    func use(of text: String) -> Double { bytes > 0 ? Double(text.utf8.count) / Double(bytes) : 0 }

    /// Halves the limit where the brokers have refused a commit for the length of its metadata.
    /// - Returns: `false` for another error.
    func shrink(after error: KafkaError) -> Bool {
        guard error.isMetadataTooLarge, bytes > 0 else { return false }
        bytes = bytes < 64 ? 0 : bytes / 2
        log.warning(
            """
            the brokers keep less beside an offset than worker.doneSetBytes: what is done behind a slow request may be repeated \
            after a crash; set worker.doneSetBytes to the brokers' offset.metadata.max.bytes
            """,
            metadata: ["bytes": "\(bytes)"])
        return true
    }
}
