import EventContract

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
