import EventContract
import LocationSearch

/// Opens the values of dead letters in an editor until each is a valid request or the user skips it.
struct LetterEditing {
    /// The maximum number of letters that can be edited in one run.
    static let mostLetters = 100

    /// The new values of the letters to redrive, by position in the dead-letter topic.
    private(set) var values: [RedriveMark: [UInt8]] = [:]
    /// The number of letters that the user skipped.
    private(set) var skipped = 0

    private let judge: RequestJudge

    init(_ judge: RequestJudge) { self.judge = judge }

    /// Lets the user edit one letter. It is checked each time the editor closes, and an invalid letter can be edited
    /// again.
    mutating func edit(_ letter: DeadLetter, at mark: RedriveMark) async throws {
        var value = letter.value ?? []
        while true {
            value = try await Editor.edit(value, as: "dead-letter-\(mark.partition)-\(mark.offset).json")
            // Editors append a line feed to the last line.
            if value.last == UInt8(ascii: "\n") { value.removeLast() }

            guard let fault = judge.fault(of: letter.with(value: value)) else {
                values[mark] = value
                return
            }
            guard asksAgain(fault, at: mark) else {
                skipped += 1
                return
            }
        }
    }

    /// Prints what is wrong, and asks whether to edit again. Returns false without a terminal.
    private func asksAgain(_ fault: SearchError, at mark: RedriveMark) -> Bool {
        let place = fault.member.map { " (\($0))" } ?? ""
        Terminal.note(
            TerminalText.safe(
                "the letter at \(mark.partition)/\(mark.offset) is not a valid request\(place): \(fault.message)"))
        guard Terminal.inputIsTerminal else { return false }

        Terminal.writeError("Edit it again? [Y/n] ")
        return !["n", "no"].contains(readLine()?.lowercased() ?? "n")
    }
}

/// Checks dead letters with the rules that workers apply to requests.
struct RequestJudge: Sendable {
    private let decoder: RequestDecoder

    /// - Parameter settings: the source of `worker.maxRequestBytes`.
    init(_ settings: Settings) { decoder = RequestDecoder(maximumBytes: settings.integer("worker.maxRequestBytes")) }

    /// Returns why the letter would be rejected again; `nil` if it is a valid request.
    func fault(of letter: DeadLetter) -> SearchError? {
        let position = letter.source ?? SourcePosition(topic: "", partition: 0, offset: 0)
        do throws(RejectedRecord) {
            _ = try decoder.decode(
                ConsumerRecord(source: position, key: letter.key, value: letter.value, headers: letter.originalHeaders))
            return nil
        } catch {
            return error.error
        }
    }
}
