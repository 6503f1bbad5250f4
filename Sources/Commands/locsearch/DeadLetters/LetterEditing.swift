import EventContract
import LocationSearch

/// Has a person edit the values of dead letters until each is a request, or is left where it is.
struct LetterEditing {
    /// More letters than this are not edited one after another.
    static let mostLetters = 100

    /// The new values of the letters that may go back, by their positions in the dead-letter topic.
    private(set) var values: [RedriveMark: [UInt8]] = [:]
    /// The number of letters that are left where they are.
    private(set) var left = 0

    private let judge: RequestJudge

    init(_ judge: RequestJudge) { self.judge = judge }

    /// Has one letter edited. It is judged after each look of the editor; what is no request yet is offered again.
    mutating func edit(_ letter: DeadLetter, at mark: RedriveMark) async throws {
        var value = letter.value ?? []
        while true {
            value = try await Editor.edit(value, as: "dead-letter-\(mark.partition)-\(mark.offset).json")
            // Editors put a line end behind the last line.
            if value.last == UInt8(ascii: "\n") { value.removeLast() }

            guard let fault = judge.fault(of: letter.with(value: value)) else {
                values[mark] = value
                return
            }
            guard asksAgain(fault, at: mark) else {
                left += 1
                return
            }
        }
    }

    /// Tells what is wrong, and asks what to do. Nobody can be asked without a terminal.
    private func asksAgain(_ fault: SearchError, at mark: RedriveMark) -> Bool {
        let place = fault.member.map { " (\($0))" } ?? ""
        Terminal.note(
            TerminalText.safe("the letter at \(mark.partition)/\(mark.offset) is no request\(place): \(fault.message)"))
        guard Terminal.inputIsTerminal else { return false }

        Terminal.writeError("Edit it again? [Y/n] ")
        return !["n", "no"].contains(readLine()?.lowercased() ?? "n")
    }
}
