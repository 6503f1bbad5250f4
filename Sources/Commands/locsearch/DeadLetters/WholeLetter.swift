import Basics
import Console
import EventContract
import JSON

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
        if let producer = summary.producer { lines.append("    producer \(TerminalText.safe(producer))") }
        lines.append("    letter   \(summary.mark.partition)/\(summary.mark.offset) of the dead-letter topic")
        if letter.isWithoutContent { return lines }

        lines.append("    key      \(Self.shown(letter.key))")
        for header in letter.originalHeaders {
            lines.append("    header   \(TerminalText.safe(header.name)): \(Self.shown(header.value))")
        }
        lines.append("    value    \(Self.shown(letter.value))")
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
        return summary.fault.map { "still invalid: \($0)" } ?? "a valid request"
    }

    private static func shown(_ bytes: [UInt8]?) -> String {
        guard let bytes else { return "(none)" }
        return String(validating: bytes, as: UTF8.self).map(TerminalText.safe)
            ?? "(\(bytes.count) bytes, in Base64) \(Base64.encode(bytes))"
    }

    /// One JSON object. Bytes that are not valid text are encoded in Base64, in a member with a different name.
    var json: String {
        JSONWriter.objectText(capacity: 1024) { json in
            json.member("reason", letter.reason)
            json.member("message", letter.message)
            json.member("member", letter.member)
            json.member("fault", summary.fault)
            json.member("faultMember", summary.faultMember)
            json.member("producer", summary.producer)
            json.member("topic", letter.source?.topic)
            json.member("partition", letter.source.map { Int($0.partition) })
            json.member("offset", letter.source.map { Int($0.offset) })
            json.member("time", letter.time?.description)
            json.member("worker", letter.worker)
            json.member("tries", letter.tries)
            json.member("redriven", summary.isRedriven)
            json.member("outcome", summary.isOutcome)
            json.member("withoutContent", summary.isWithoutContent)
            json.member("requestId", letter.requestID)
            json.object("letter") { json in
                json.member("partition", Int(summary.mark.partition))
                json.member("offset", Int(summary.mark.offset))
            }
            json.members(ofKey: letter.key, headers: letter.originalHeaders, value: letter.value)
        }
    }
}
