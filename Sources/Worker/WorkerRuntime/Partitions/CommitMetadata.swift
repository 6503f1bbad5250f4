package import Kafka

/// The metadata text that a lane commits with an offset: fields separated by semicolons, such as
/// `locsearch1;at=164;runs=BgGk`. Other clients may read it, and must not write it.
package struct CommitMetadata: Sendable, Hashable {
    /// The result of parsing a metadata text.
    package enum Reading: Sendable, Hashable {
        case known(CommitMetadata)
        /// There is no metadata.
        case nothing
        /// It was written for another offset. A tool has copied it, so its contents do not apply here.
        case copied
        /// Another program or a later version wrote it, or it is damaged.
        case foreign
    }

    /// Identifies this program and the version of the format. Readers ignore unknown fields. A change that an older
    /// reader must not ignore needs another number.
    private static let header = "locsearch1"

    /// The offsets that are done beyond the committed one.
    package var done = DoneSet()
    /// The notes about processes that crashed while they owned the partition.
    package var crashes = CrashNotes()

    package init() {}

    /// Parses the metadata that is committed with an offset.
    package static func read(_ committed: CommittedOffset) -> Reading {
        if committed.metadata.isEmpty { return .nothing }
        let (base, fields) = committed.textFields
        guard fields.first == header[...], let base else { return .foreign }
        guard base == committed.offset else { return .copied }

        var metadata = CommitMetadata()
        for field in fields {
            guard metadata.read(field, from: committed.offset) else { return .foreign }
        }
        return .known(metadata)
    }

    /// Parses one field. Ignores unknown fields.
    /// - Returns: `false` for a damaged field.
    private mutating func read(_ field: Substring, from base: Int64) -> Bool {
        if field.hasPrefix("runs=") || field.hasPrefix("bits=") {
            guard let done = DoneSet(text: field, from: base) else { return false }
            self.done = done
        }
        return crashes.read(field)
    }

    /// Returns a commit whose metadata contains only its offset. A broker that returns it stores metadata.
    static func proof(at offset: Int64) -> CommittedOffset { CommittedOffset(offset, fields: [header]) }

    /// Returns the metadata for an offset, and the end of the done-set that fits into it.
    /// - Parameters:
    ///   - limit: the most bytes of the text. 0: no text is written.
    ///   - reserved: the bytes reserved for crash notes.
    package func text(for offset: Int64, atMost limit: Int, notes reserved: Int = 0) -> DoneSet.Text {
        var fields = [Self.header] + crashes.fields
        func text() -> String { CommittedOffset(offset, fields: fields).metadata }
        // bounded: lengths of texts, and a part of a limit
        let others = text().utf8.count + max(0, reserved - crashes.bytes) + 1
        var written = done.text(from: offset, atMost: limit - others)
        (written.bytes, written.others) = (written.text.utf8.count, others)
        if !written.text.isEmpty { fields.append(written.text) }
        written.text = fields.count > 1 && text().utf8.count <= limit ? text() : ""
        return written
    }
}
