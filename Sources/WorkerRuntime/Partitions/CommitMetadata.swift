package import Kafka

/// What a lane writes beside the offset that it commits of a partition: a text of a few fields with semicolons between them, such
/// as `locsearch1;runs=BgGk`. Other clients may read it, and must not write it.
package struct CommitMetadata: Sendable, Hashable {
    /// What a text says that is committed with an offset.
    package enum Reading: Sendable, Hashable {
        case known(CommitMetadata)
        /// It is empty, or a note of this program's own that says nothing of what is done.
        case nothing
        /// Another program wrote it, or a later version of this one, or it is damaged.
        case foreign
    }

    /// Names this program and the version of the text. Fields that a reader does not know are passed over; a change that an older
    /// reader must not pass over gets another number.
    static let header = "locsearch1"

    /// Where the group began, as a field of its own: see `GroupHistory`. It lasts until the first request of the partition is
    /// done.
    package var startNote = ""
    /// What is done beyond the offset.
    package var done = DoneSet()
    /// What is known of processes that crashed with the partition.
    package var crashes = CrashNotes()

    package init() {}

    /// Reads the text that is committed with an offset.
    package static func read(_ committed: CommittedOffset) -> Reading {
        if committed.metadata.isEmpty { return .nothing }

        let fields = committed.metadata.split(separator: ";")
        var metadata = CommitMetadata()
        metadata.startNote = fields.first { $0.hasPrefix(GroupHistory.notePrefix) }.map(String.init) ?? ""
        if fields.first.map(String.init) == metadata.startNote, fields.count == 1 { return .known(metadata) }

        guard fields.first.map(String.init) == header else { return .foreign }
        for field in fields.dropFirst() {
            guard metadata.crashes.read(field) else { return .foreign }
            guard field.hasPrefix("runs=") || field.hasPrefix("bits=") else { continue }
            guard let done = DoneSet(text: field, from: committed.offset) else { return .foreign }
            metadata.done = done
        }
        return .known(metadata)
    }

    /// Returns the text for an offset, and what of the done-set it has no room for.
    /// - Parameter limit: The most bytes of the text. 0: none is written.
    package func text(for offset: Int64, atMost limit: Int) -> DoneSet.Text {
        let head = Self.header + (startNote.isEmpty ? "" : ";\(startNote)") + crashes.text
        var text = done.text(from: offset, atMost: limit - head.utf8.count - 1)
        if !text.text.isEmpty {
            text.text = "\(head);\(text.text)"
        } else if head.utf8.count > Self.header.utf8.count, head.utf8.count <= limit {
            text.text = head
        }
        return text
    }
}
