/// The notes that a partition's owners commit with its offset about processes that crashed while they owned it. The
/// notes identify a record that crashes each process that runs it.
///
/// In the text, each note is a field of the metadata: `tries=3;begun=164;alone=120:1`, or
/// `tries=3;running=120+37+8843`.
package struct CrashNotes: Sendable, Hashable {
    /// A record that ran in isolation, with nothing else in flight in its process.
    package struct Suspect: Sendable, Hashable {
        package var offset: Int64
        /// The number of processes that crashed while they ran the record in isolation.
        package var ends: Int
        /// True while a process runs the record in isolation.
        package var isRunning: Bool
    }

    /// The number of owners since the partition last made progress, including the present one; at most `mostEnds`.
    package var tries = 0
    /// The offset after the last record that any of them may have begun; `nil` if not noted.
    package var begun: Int64?
    /// The records that may be in flight, in ascending order, if records may begin before earlier ones.
    package var running: [Int64] = []
    package var suspect: Suspect?

    package init(tries: Int = 0, begun: Int64? = nil, running: [Int64] = [], suspect: Suspect? = nil) {
        (self.tries, self.begun, self.running, self.suspect) = (tries, begun, running, suspect)
    }

    package var isEmpty: Bool { self == CrashNotes() }

    /// The upper bound of the counts, because a text may contain any number.
    private static let mostEnds = 9999

    /// Returns the count after `count`.
    static func next(after count: Int) -> Int { min(count, mostEnds - 1) + 1 }  // bounded: by `mostEnds`

    // MARK: - Fields of the metadata

    /// The most bytes of all fields but `running`, and of the suspect field: four digits for each count, and 19 for
    /// each offset.
    static let (bytesWithoutRunning, bytesOfSuspect) = (80, 34)

    /// The bytes of the fields, each with its semicolon.
    var bytes: Int { fields.reduce(0) { $0 + $1.utf8.count + 1 } }

    /// The fields; none if there is nothing to note.
    var fields: [String] {
        var fields = tries > 0 ? ["tries=\(tries)"] : []
        if let begun { fields.append("begun=\(begun)") }
        if let first = running.first {
            // The first offset, then the difference of each offset from the previous one.
            let steps = zip(running, running.dropFirst()).map { "+\($1 - $0)" }  // bounded: ascending, none below 0
            fields.append("running=\(first)\(steps.joined())")
        }
        if let suspect { fields.append("\(suspect.isRunning ? "alone" : "suspect")=\(suspect.offset):\(suspect.ends)") }
        return fields
    }

    /// Parses one field. Ignores fields that are not crash notes.
    /// - Returns: `false` for a damaged field.
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

    /// Parses the value of `running`.
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
