import ArgumentParser
import EventContract
import LocationSearch

/// Selects dead letters for a command. An option that is not given excludes none.
struct DeadLetterFilter: ParsableArguments {
    @Option(help: "Only dead letters with this reason: an error code, such as invalid-request.") var reason: String?
    @Option(help: "Only dead letters from this requests topic.") var topic: String?
    @Option(help: "Only dead letters from this partition of the requests topic.") var partition: Int32?
    @Option(help: "Only dead letters from this offset of the requests topic or later.") var fromOffset: Int64?
    @Option(help: "Only dead letters from before this offset of the requests topic.") var toOffset: Int64?
    @Option(help: "Only dead letters written at this time or later: RFC 3339, such as 2026-11-21T09:30:00Z.")
    var since: TimeArgument?
    @Option(help: "Only dead letters written before this time.") var until: TimeArgument?

    func validate() throws {
        if let reason, reason != DeadLetter.crashedWorkers, SearchError.Code(rawValue: reason) == nil {
            let known = (SearchError.Code.allCases.map(\.rawValue) + [DeadLetter.crashedWorkers]).joined(
                separator: ", ")
            throw ValidationError("--reason \(reason) is not a reason: expected one of \(known)")
        }
        if topic?.isEmpty == true { throw ValidationError("--topic takes a name") }
        if let partition, partition < 0 { throw ValidationError("--partition takes 0 or more") }
        if let fromOffset, fromOffset < 0 { throw ValidationError("--from-offset takes 0 or more") }
        if let toOffset, toOffset <= fromOffset ?? 0 {
            throw ValidationError(
                "--to-offset \(toOffset) selects nothing: it must be above --from-offset, and above 0")
        }
        if let since, let until, until.time <= since.time {
            throw ValidationError("--until must be later than --since")
        }
    }

    func matches(_ letter: DeadLetter) -> Bool {
        if let reason, letter.reason != reason { return false }

        if let topic, letter.source?.topic != topic { return false }
        if let partition, letter.source?.partition != partition { return false }
        if let fromOffset, (letter.source?.offset ?? -1) < fromOffset { return false }
        if let toOffset, (letter.source?.offset ?? .max) >= toOffset { return false }

        if let since, letter.time.map({ $0 < since.time }) ?? true { return false }
        if let until, letter.time.map({ $0 >= until.time }) ?? true { return false }
        return true
    }
}

/// An RFC 3339 time as the value of an option.
struct TimeArgument: ExpressibleByArgument, Sendable {
    let time: WallTime

    init?(argument: String) {
        guard let time = WallTime(rfc3339: Array(argument.utf8)) else { return nil }
        self.time = time
    }
}

/// Searches for a text in dead letters, ignoring the case of ASCII letters.
///
/// It compares bytes for speed: the list of dead letters is long, and is searched while the user types.
struct TextSearch: Sendable {
    private let needle: [UInt8]

    init(_ text: String) { needle = Self.lowered(text) }

    /// Returns true if the text occurs in the message, member, reason, producer, source position, or the stored
    /// beginning of key or value.
    func matches(_ letter: DeadLetterSummary) -> Bool {
        let source = letter.source.map { "\($0.topic)-\($0.partition)@\($0.offset)" }
        let texts = [
            letter.message, letter.member, letter.reason, letter.producer, source, letter.keyHead?.text,
            letter.valueHead?.text,
        ]
        return texts.contains { $0.map(isIn) ?? false }
    }

    private func isIn(_ text: String) -> Bool {
        let bytes = Self.lowered(text)
        guard let first = needle.first else { return true }
        guard bytes.count >= needle.count else { return false }

        // bounded: both are lengths of texts in memory
        return (0...bytes.count - needle.count).contains { start in
            // bounded: within `bytes`
            bytes[start] == first && bytes[start..<start + needle.count].elementsEqual(needle)
        }
    }

    private static func lowered(_ text: String) -> [UInt8] {
        text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}
