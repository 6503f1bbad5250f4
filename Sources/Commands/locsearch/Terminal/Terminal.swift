import Observability
import LibC

/// Standard output and error of a command for people.
enum Terminal {
    /// True when somebody sees standard error as it is written, so that a line may be replaced by the next.
    static var errorIsTerminal: Bool { isatty(2) == 1 }

    /// True when a person can be asked something.
    static var inputIsTerminal: Bool { isatty(0) == 1 }

    /// Writes a line to standard output, where it is seen at once, also through a pipe.
    static func line(_ text: String = "") { write(text + "\n") }

    /// Writes a part of the command's result as it stands. Where that is not possible, the process ends: the result would be
    /// cut short, and nobody would know. A reader that has gone away needs no message.
    static func write(_ text: String) {
        guard !LineOutput.write(Array(text.utf8)[...], to: STDOUT_FILENO) else { return }
        let code = errno
        if code == EPIPE { exitNow(128 + SIGPIPE) }
        note("standard output cannot be written (\(unsafe String(cString: strerror(code)))): the result is cut short")
        exitNow(1)
    }

    /// Writes a line to standard error: what is not the command's result.
    static func note(_ text: String) { writeError("locsearch: \(text)\n") }

    /// Asks a person a question, to which everything but a yes is a no. So is the end of the input.
    static func confirms(_ question: String) -> Bool {
        writeError("\(question) [y/N] ")
        guard let answer = readLine() else {
            writeError("\n")
            note("nobody can be asked here: give --yes")
            return false
        }
        return ["y", "yes"].contains(answer.lowercased())
    }

    /// Replaces the last line of standard error, when that is a terminal.
    static func progress(_ text: String) {
        if errorIsTerminal { writeError("\r\u{1B}[K\(text)") }
    }

    /// Takes the progress line away.
    static func endProgress() { progress("") }

    /// Writes a text to standard error as it stands, without a line end.
    static func writeError(_ text: String) {
        _ = LineOutput.write(Array(text.utf8)[...], to: STDERR_FILENO)
    }
}
