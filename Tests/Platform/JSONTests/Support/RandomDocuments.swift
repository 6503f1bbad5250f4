import TestSupport

/// Makes small documents, and damages them.
struct RandomDocuments {
    private var random: SplitMix64
    private let words: [[UInt8]]

    /// - Parameter moreWords: strings, numbers and similar texts for the documents, in addition to the usual ones.
    init(seed: UInt64, moreWords: [[UInt8]] = []) {
        random = SplitMix64(state: seed)
        words = Self.words.map { Array($0.utf8) } + moreWords
    }

    private static let words = [
        #""""#, #""a""#, #""key""#, #""a longer key""#, #""日本語 🍜""#, #""\u3042\ud83c\udf5c""#, #""\"\\\/\b\f\n\r\t""#,
        "0", "-0", "7", "-12.5", "1e3", "2.5E-3", "139.7002583", "12345678901234567890", "true", "false", "null",
    ]
    private static let keys = [#""a""#, #""key""#, #""a longer key""#, #""\u006bey""#, #""""#, #""名""#]
    private static let blanks = ["", "", "", " ", "\n  ", "\r\n\t", String(repeating: " ", count: 17)]
    private static let pieces =
        ["{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud800", "0", "-", ".", "e", "\u{1}", "\u{7F}", "nul", "é"]
        .map { Array($0.utf8) } + [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]]

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    mutating func document() -> [UInt8] {
        var text: [UInt8] = []
        append(to: &text, depth: 0)
        return text
    }

    private mutating func append(to text: inout [UInt8], depth: Int) {
        blank(&text)
        let isContainer = below(depth == 0 ? 6 : 3 + depth) < (depth == 0 ? 5 : 2)
        if isContainer, depth < 8 {
            let isObject = below(2) == 0
            text.append(UInt8(ascii: isObject ? "{" : "["))
            for index in 0..<below(5) {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                if isObject {
                    blank(&text)
                    text += Self.keys[below(Self.keys.count)].utf8
                    blank(&text)
                    text.append(UInt8(ascii: ":"))
                }
                append(to: &text, depth: depth + 1)
            }
            blank(&text)
            text.append(UInt8(ascii: isObject ? "}" : "]"))
        } else {
            text += words[below(words.count)]
        }
        blank(&text)
    }

    private mutating func blank(_ text: inout [UInt8]) { text += Self.blanks[below(Self.blanks.count)].utf8 }

    mutating func damage(_ text: inout [UInt8]) {
        for _ in 0...below(3) where !text.isEmpty {
            let place = below(text.count)
            switch below(5) {
            case 0: text[place] = .random(in: 1...255, using: &random)
            case 1: text.remove(at: place)
            case 2: text.removeLast(text.count - place)
            case 3: text.insert(contentsOf: Array(text[place..<min(text.count, place + 1 + below(12))]), at: place)
            default: text.insert(contentsOf: Self.pieces[below(Self.pieces.count)], at: place)
            }
        }
    }
}
