import EventContract
import JSON

/// Dead letters for people and programs. What stands in them is somebody else's: no control character of it reaches a
/// terminal.
enum DeadLetterText {
    /// Bytes of the value that are shown.
    private static let headBytes = 120

    static func line(_ entry: DeadLetterTopic.Entry) -> String {
        let letter = entry.letter
        let time = letter.time?.description ?? "-"
        let source = letter.source.map { "\($0.topic)-\($0.partition)@\($0.offset)" } ?? "-"
        let state = entry.isRedriven ? "  went back" : ""
        let head = TerminalText.cut(TerminalText.safe(head(of: letter)), to: 100)
        return "\(time)  \(letter.reason)  \(source)\(state)\n    \(TerminalText.safe(letter.message))\n    \(head)"
    }

    static func json(_ entry: DeadLetterTopic.Entry) -> String {
        let letter = entry.letter
        var json = JSONWriter(capacity: 512)
        json.beginObject()
        json.member("reason", letter.reason)
        json.member("message", letter.message)
        json.member("member", letter.member)
        json.member("topic", letter.source?.topic)
        json.member("partition", letter.source.map { Int($0.partition) })
        json.member("offset", letter.source.map { Int($0.offset) })
        json.member("time", letter.time?.description)
        json.member("bytes", letter.value?.count ?? 0)
        json.member("head", head(of: letter))
        json.member("withoutContent", letter.isWithoutContent)
        json.member("redriven", entry.isRedriven)
        json.endObject()
        return String(decoding: json.finish(), as: UTF8.self)
    }

    private static func head(of letter: DeadLetter) -> String {
        if letter.isWithoutContent {
            return "(too large for this topic: it is where it stood, as long as that keeps it)"
        }
        guard let value = letter.value else { return "(no value)" }
        if value.isEmpty { return "(empty)" }
        return String(decoding: value.prefix(headBytes), as: UTF8.self) + (value.count > headBytes ? "…" : "")
    }

    static func bar(_ done: Int, of total: Int) -> String {
        let width = 30
        let filled = total > 0 ? done * width / total : width
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
            + "] \(done) of \(total)"
    }
}
