/// What the owners of a partition note beside its committed offset about processes that ended while they had the partition, without
/// saying goodbye. A record that crashes each process that runs it is found by these notes.
///
/// As text, each is a field of the metadata: `tries=3;begun=164;alone=120:1`, or `tries=3;running=120+37+8843`.
package struct CrashNotes: Sendable, Hashable {
    /// A record that was run alone, with nothing else under way in its process.
    package struct Suspect: Sendable, Hashable {
        package var offset: Int64
        /// The number of processes that ended while they ran the record alone.
        package var ends: Int
        /// True while a process runs it.
        package var isRunning: Bool
    }

    /// The owners that have begun since the partition last got on, the present one among them; `mostEnds` stands for more.
    package var tries = 0
    /// One past the last record that any of them may have begun; `nil` where that was not noted.
    package var begun: Int64?
    /// The records that may be under way, in ascending order, where records begin before others that were read earlier.
    package var running: [Int64] = []
    package var suspect: Suspect?

    package init(tries: Int = 0, begun: Int64? = nil, running: [Int64] = [], suspect: Suspect? = nil) {
        self.tries = tries
        self.begun = begun
        self.running = running
        self.suspect = suspect
    }

    package var isEmpty: Bool { self == CrashNotes() }

    /// The largest number of tries, and of ends: a text may hold any.
    private static let mostEnds = 9999

    /// Returns the number that follows on a number of tries, or of ends.
    static func next(after count: Int) -> Int { min(count, mostEnds - 1) + 1 }  // bounded: as here

    // MARK: - As fields of the metadata

    /// The most bytes of all fields but `running`, and of the suspect alone: four digits for each count, and 19 for each offset.
    static let (bytesWithoutRunning, bytesOfSuspect) = (80, 34)

    /// The bytes that the fields take, each with a semicolon before it.
    var bytes: Int { fields.reduce(0) { $0 + $1.utf8.count + 1 } }

    /// The fields; none where there is nothing to note.
    var fields: [String] {
        var fields = tries > 0 ? ["tries=\(tries)"] : []
        if let begun { fields.append("begun=\(begun)") }
        if let first = running.first {
            // The first one, and how far each of the others lies behind the one before it.
            let steps = zip(running, running.dropFirst()).map { "+\($1 - $0)" }  // bounded: ascending, none below 0
            fields.append("running=\(first)\(steps.joined())")
        }
        if let suspect { fields.append("\(suspect.isRunning ? "alone" : "suspect")=\(suspect.offset):\(suspect.ends)") }
        return fields
    }

    /// Reads one field.
    /// - Returns: `false` for a field of these notes that is damaged. Fields of another kind are passed over.
    mutating func read(_ field: Substring) -> Bool {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return true }

        switch parts[0] {
        case "tries":
            guard let number = Int(parts[1]), number >= 0 else { return false }
            tries = min(number, Self.mostEnds)
        case "begun":
            guard let offset = Int64(parts[1]), offset >= 0 else { return false }
            begun = offset
        case "running":
            guard let offsets = Self.offsets(in: parts[1]) else { return false }
            running = offsets
        case "alone", "suspect":
            let numbers = parts[1].split(separator: ":", omittingEmptySubsequences: false)
            guard numbers.count == 2, let offset = Int64(numbers[0]), let ends = Int(numbers[1]), offset >= 0, ends >= 0
            else { return false }
            suspect = Suspect(offset: offset, ends: min(ends, Self.mostEnds), isRunning: parts[0] == "alone")
        default: break
        }
        return true
    }

    /// Reads what `text` writes of the records that may be under way.
    private static func offsets(in text: Substring) -> [Int64]? {
        var offsets: [Int64] = []
        for part in text.split(separator: "+", omittingEmptySubsequences: false) {
            guard let step = Int64(part), step >= (offsets.isEmpty ? 0 : 1) else { return nil }
            let (offset, isTooLarge) = (offsets.last ?? 0).addingReportingOverflow(step)
            guard !isTooLarge else { return nil }
            offsets.append(offset)
        }
        return offsets
    }
}
