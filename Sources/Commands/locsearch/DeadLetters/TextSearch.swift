import EventContract

/// Looks for a text in dead letters, whatever the case of its Latin letters.
///
/// It compares bytes: a list of dead letters is long, and is looked through while somebody types.
struct TextSearch: Sendable {
    private let needle: [UInt8]

    init(_ text: String) { needle = Self.lowered(text) }

    /// True where message, member, reason, producer, the source position, or what is kept of key and value holds the text.
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

        // bounded: both counts are those of texts in memory
        return (0...bytes.count - needle.count).contains { start in
            // bounded: within `bytes`
            bytes[start] == first && bytes[start..<start + needle.count].elementsEqual(needle)
        }
    }

    private static func lowered(_ text: String) -> [UInt8] {
        text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}
