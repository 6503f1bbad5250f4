import EventContract
import Kafka

/// Formats an outcome as one line of `watch`, with aligned columns.
enum OutcomeLine {
    static func text(_ outcome: ReceivedOutcome) -> String {
        let place = "\(outcome.record.partition.id)@\(outcome.record.offset)"
        guard let event = outcome.event else { return "(no outcome event) \(place)" }

        let time = event.completedAt.map { String($0.description.dropFirst(11).prefix(12)) }
        let key = outcome.record.key.map { String(decoding: $0, as: UTF8.self) }
        let columns: [(text: String?, width: Int)] = [
            (time, 12), (event.provider, 20), (event.operation, 7), (OutcomeText.milliseconds(event) + " ms", 8),
            (OutcomeText.summary(event), 44), (key, 20), (event.sessionID, 16),
        ]

        let cells = columns.map { cell($0.text ?? "-", width: $0.width) }
        let line = cells.joined() + TerminalText.cut(TerminalText.safe(event.requestID), to: 48)
        guard case .failed(let failure) = event.body else { return line }
        return "\(line)  \(OutcomeText.reason(failure))"
    }

    /// Cuts or pads a text to its column's width, followed by two spaces.
    private static func cell(_ text: String, width: Int) -> String {
        let text = TerminalText.cut(TerminalText.safe(text), to: width)
        return text + String(repeating: " ", count: max(0, width - TerminalText.width(of: text)) + 2)
    }
}
