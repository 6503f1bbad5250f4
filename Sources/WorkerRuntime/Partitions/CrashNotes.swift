/// What the owners of a partition note beside its committed offset about processes that ended while they had the partition, without
/// saying goodbye. A record that crashes each process that runs it is found by these notes.
///
/// As text, each is a field of the metadata: `tries=3;begun=164;alone=120:1`.
package struct CrashNotes: Sendable, Hashable {
    /// A record that was run alone, with nothing else under way in its process.
    package struct Suspect: Sendable, Hashable {
        package var offset: Int64
        /// The number of processes that ended while they ran the record alone.
        package var ends: Int
        /// True while a process runs it.
        package var isRunning: Bool
    }

    /// The owners that have begun since the partition last got on, the present one among them.
    package var tries = 0
    /// One past the last record that any of them may have begun; `nil` where that was not noted.
    package var begun: Int64?
    package var suspect: Suspect?

    package init(tries: Int = 0, begun: Int64? = nil, suspect: Suspect? = nil) {
        self.tries = tries
        self.begun = begun
        self.suspect = suspect
    }

    package var isEmpty: Bool { self == CrashNotes() }

    // MARK: - As fields of the metadata

    /// The fields, each with a semicolon before it; empty where there is nothing to note.
    var text: String {
        var text = tries > 0 ? ";tries=\(tries)" : ""
        if let begun { text += ";begun=\(begun)" }
        if let suspect { text += ";\(suspect.isRunning ? "alone" : "suspect")=\(suspect.offset):\(suspect.ends)" }
        return text
    }

    /// Reads one field.
    /// - Returns: `false` for a field of these notes that is damaged. Fields of another kind are passed over.
    mutating func read(_ field: Substring) -> Bool {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return true }

        switch parts[0] {
        case "tries":
            guard let number = Int(parts[1]), number >= 0 else { return false }
            tries = number
        case "begun":
            guard let offset = Int64(parts[1]), offset >= 0 else { return false }
            begun = offset
        case "alone", "suspect":
            let numbers = parts[1].split(separator: ":", omittingEmptySubsequences: false)
            guard numbers.count == 2, let offset = Int64(numbers[0]), let ends = Int(numbers[1]), offset >= 0, ends >= 0
            else { return false }
            suspect = Suspect(offset: offset, ends: ends, isRunning: parts[0] == "alone")
        default: break
        }
        return true
    }
}
