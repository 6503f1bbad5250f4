import Console
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
        JSONWriter.objectText(capacity: 512) { write(letter, to: &$0) }
    }

    static func write(_ letter: DeadLetterSummary, to json: inout JSONWriter) {
        letter.writeMembers(to: &json)
        json.member("bytes", letter.valueHead?.count ?? 0)
        json.member("head", valueText(letter))
        write(letter.mark, to: &json)
    }

    /// Writes the position in the dead-letter topic.
    static func write(_ mark: RedriveMark, to json: inout JSONWriter) {
        json.object("letter") { json in
            json.member("partition", Int(mark.partition))
            json.member("offset", Int(mark.offset))
        }
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

    /// A key, a header or a value: as text, or in Base64 if it is none.
    static func shown(_ bytes: [UInt8]?) -> String {
        guard let bytes else { return "(none)" }
        return String(validating: bytes, as: UTF8.self).map(TerminalText.safe)
            ?? "(\(bytes.count) bytes, in Base64) \(Base64.encode(bytes))"
    }

    private static func valueText(_ letter: DeadLetterSummary) -> String {
        if letter.isWithoutContent {
            return "(too large for this topic: see the requests topic, while it keeps the record)"
        }
        guard let head = letter.valueHead else { return "(no value)" }
        if head.count == 0 { return "(empty)" }
        let start = head.text.prefix(DeadLetterSummary.Head.mostBytes)
        return String(start) + (head.isCut || start.endIndex < head.text.endIndex ? "…" : "")
    }
}

extension DeadLetterSummary {
    /// Writes what a list and a whole letter have in common.
    fileprivate func writeMembers(to json: inout JSONWriter) {
        json.member("reason", reason)
        json.member("message", message)
        json.member("member", member)
        json.member("topic", source?.topic)
        json.member("partition", source.map { Int($0.partition) })
        json.member("offset", source.map { Int($0.offset) })
        json.member("time", time?.description)
        json.member("withoutContent", isWithoutContent)
        json.member("outcome", isOutcome)
        json.member("redriven", isRedriven)
        json.member("producer", producer)
        json.member("fault", fault)
        json.member("expiry", expiry?.description)
    }
}

/// A dead letter with the complete record, as text and as JSON.
struct WholeLetter {
    let letter: DeadLetter
    let summary: DeadLetterSummary

    /// Several lines: the record's position, the reason, and its current state, then key, headers and value.
    var text: [String] {
        var lines = [DeadLetterText.origin(of: summary) + (summary.isRedriven ? "  went back" : "")]
        lines.append("    \(TerminalText.safe(letter.message))")
        if let aside = setAside { lines.append("    aside    \(TerminalText.safe(aside))") }
        lines.append("    now      \(TerminalText.safe(now))")
        if let expiry = summary.expiry { lines.append("    expires  \(expiry)") }
        if let producer = summary.producer { lines.append("    producer \(TerminalText.safe(producer))") }
        lines.append("    letter   \(summary.mark.partition)/\(summary.mark.offset) of the dead-letter topic")
        if letter.isWithoutContent { return lines }

        lines.append("    key      \(DeadLetterText.shown(letter.key))")
        for header in letter.originalHeaders {
            lines.append("    header   \(TerminalText.safe(header.name)): \(DeadLetterText.shown(header.value))")
        }
        lines.append("    value    \(DeadLetterText.shown(letter.value))")
        return lines
    }

    /// The worker that rejected the record, and the number of tries before that; `nil` if the letter contains neither.
    private var setAside: String? {
        let worker = letter.worker.map { "by \($0)" }
        let tries = letter.tries.map { "after \($0) worker processes crashed with its partition" }
        let parts = [worker, tries].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// The result of processing the record now.
    private var now: String {
        if summary.isOutcome { return "not sent: it is a result or an error of a worker" }
        if summary.isWithoutContent { return "cannot go back: its content was too large for the dead-letter topic" }
        let expired = summary.isExpired(at: .now()) ? "; it has expired: redrive it with --expiry 5m" : ""
        return (summary.fault.map { "still invalid: \($0)" } ?? "a valid request") + expired
    }

    /// One JSON object. Bytes that are not valid text are encoded in Base64, in a member with a different name.
    var json: String {
        JSONWriter.objectText(capacity: 1024) { json in
            summary.writeMembers(to: &json)
            json.member("faultMember", summary.faultMember)
            json.member("worker", letter.worker)
            json.member("tries", letter.tries)
            json.member("requestId", letter.requestID)
            DeadLetterText.write(summary.mark, to: &json)
            json.members(ofKey: letter.key, headers: letter.originalHeaders, value: letter.value)
        }
    }
}
