import EventContract
import JSON

/// Dead letters as text and as JSON. Their content comes from unknown producers, so the text contains no control
/// characters.
enum DeadLetterText {
    /// Three lines: the time and position of the record, the reason, and the beginning of its key and value.
    static func full(_ letter: DeadLetterSummary) -> String {
        let state = letter.isRedriven ? "  went back" : ""
        let value = TerminalText.cut(TerminalText.safe(valueText(letter)), to: 100)
        let reason = TerminalText.safe(letter.message)
        return "\(origin(of: letter))\(state)\n    \(reason)\n    key \(keyText(letter))  \(value)"
    }

    /// One line: the time and position of the record, and the beginning of its key and value.
    static func brief(_ letter: DeadLetterSummary) -> String {
        let value = TerminalText.cut(TerminalText.safe(valueText(letter)), to: 60)
        return "\(origin(of: letter))  key \(keyText(letter))  \(value)"
    }

    /// One JSON object on one line.
    static func json(_ letter: DeadLetterSummary) -> String {
        JSONWriter.objectText(capacity: 512) { json in
            json.member("reason", letter.reason)
            json.member("message", letter.message)
            json.member("member", letter.member)
            json.member("topic", letter.source?.topic)
            json.member("partition", letter.source.map { Int($0.partition) })
            json.member("offset", letter.source.map { Int($0.offset) })
            json.member("time", letter.time?.description)
            json.member("bytes", letter.valueHead?.count ?? 0)
            json.member("head", valueText(letter))
            json.member("withoutContent", letter.isWithoutContent)
            json.member("outcome", letter.isOutcome)
            json.member("redriven", letter.isRedriven)
            json.member("producer", letter.producer)
            json.member("fault", letter.fault)
        }
    }

    /// A progress bar.
    static func bar(_ done: Int, of total: Int) -> String {
        let width = 30
        let filled = total > 0 ? min(max(0, done), total) * width / total : width

        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: max(0, width - filled))
        return "[\(bar)] \(done) of \(total)"
    }

    private static func keyText(_ letter: DeadLetterSummary) -> String {
        letter.keyHead.map { TerminalText.cut(TerminalText.safe($0.text), to: 24) } ?? "-"
    }

    /// The time, the reason with the faulty member, and the record's position in the request topic.
    static func origin(of letter: DeadLetterSummary) -> String {
        let time = letter.time?.description ?? "-"
        let source = letter.source.map { "\($0.topic)-\($0.partition)@\($0.offset)" } ?? "-"
        let member = letter.member.map { " (\($0))" } ?? ""
        return "\(time)  \(TerminalText.safe(letter.reason + member))  \(TerminalText.safe(source))"
    }

    private static func valueText(_ letter: DeadLetterSummary) -> String {
        if letter.isWithoutContent {
            return "(too large for this topic: see the requests topic, while it keeps the record)"
        }
        guard let head = letter.valueHead else { return "(no value)" }
        if head.count == 0 { return "(empty)" }
        return head.text + (head.isCut ? "…" : "")
    }
}
