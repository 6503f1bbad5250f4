internal import Basics
package import Kafka

/// The text that a lane commits beside an offset: a few fields with semicolons between them, such as `locsearch1;at=164;runs=BgGk`.
/// Other clients may read it, and must not write it.
package struct CommitMetadata: Sendable, Hashable {
    /// The meaning of a text that is committed with an offset.
    package enum Reading: Sendable, Hashable {
        case known(CommitMetadata)
        /// There is no text.
        case nothing
        /// It was written beside another offset. A tool has copied it, and what it says is wrong here.
        case copied
        /// Another program wrote it, or a later version of this one, or it is damaged.
        case foreign
    }

    /// Names this program and the version of the text. Fields that a reader does not know are passed over; a change that an older
    /// reader must not pass over gets another number.
    private static let header = "locsearch1"

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
        let (base, fields) = committed.textFields
        guard let first = fields.first, first == header || first.hasPrefix(GroupHistory.notePrefix), let base else {
            return .foreign
        }
        guard base == committed.offset || isPutBack(.copiedTextCounts) else { return .copied }

        var metadata = CommitMetadata()
        for field in fields {
            guard metadata.read(field, from: committed.offset) else { return .foreign }
        }
        return .known(metadata)
    }

    /// Reads one field.
    /// - Returns: `false` for one that is damaged. Fields that are not known are passed over.
    private mutating func read(_ field: Substring, from base: Int64) -> Bool {
        if field.hasPrefix("runs=") || field.hasPrefix("bits=") {
            guard let done = DoneSet(text: field, from: base) else { return false }
            self.done = done
        } else if field.hasPrefix(GroupHistory.notePrefix) {
            guard let partitions = GroupHistory.partitions(in: field) else { return false }
            startNote = GroupHistory.note(partitions: Int(partitions))
        }
        return crashes.read(field)
    }

    /// Returns a commit whose text names its offset alone. Brokers that return it keep texts.
    static func proof(at offset: Int64) -> CommittedOffset { CommittedOffset(offset, fields: [header]) }

    /// Returns the text for an offset, and what of the done-set it has no room for.
    /// - Parameters:
    ///   - limit: The most bytes of the text. 0: none is written.
    ///   - reserved: The bytes that are kept for notes about crashes.
    package func text(for offset: Int64, atMost limit: Int, notes reserved: Int = 0) -> DoneSet.Text {
        var fields = [Self.header] + crashes.fields
        func text() -> String { CommittedOffset(offset, fields: fields).metadata }
        // The note of the group's beginning is the first to go where the room is small. Then what is written later is read from its start.
        if !startNote.isEmpty, text().utf8.count + startNote.utf8.count < limit { fields.insert(startNote, at: 1) }

        // bounded: lengths of texts, and a part of a limit
        let others = text().utf8.count + max(0, reserved - crashes.bytes) + 1
        var written = done.text(from: offset, atMost: limit - others)
        (written.bytes, written.others) = (written.text.utf8.count, others)
        if !written.text.isEmpty { fields.append(written.text) }
        written.text = fields.count > 1 && text().utf8.count <= limit ? text() : ""
        return written
    }
}
