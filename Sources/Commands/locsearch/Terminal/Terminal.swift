import Observability
import LibC

/// Standard input, output and error of commands.
enum Terminal {
    /// True if standard error is a terminal, where a line can be replaced by the next.
    static var errorIsTerminal: Bool { isatty(2) == 1 }

    /// True if standard input is a terminal, so that the user can answer questions.
    static var inputIsTerminal: Bool { isatty(0) == 1 }

    /// Writes a line to standard output without buffering, even to a pipe.
    static func line(_ text: String = "") { write(text + "\n") }

    /// Writes a part of the command's result. If this fails, the process ends, because the result would be incomplete
    /// without notice. A closed pipe needs no message.
    static func write(_ text: String) {
        guard !LineOutput.write(Array(text.utf8)[...], to: STDOUT_FILENO) else { return }
        let code = errno
        if code == EPIPE { exitNow(128 + SIGPIPE) }
        note("standard output cannot be written (\(unsafe String(cString: strerror(code)))): the result is cut short")
        exitNow(1)
    }

    /// Writes a line to standard error. Use it for everything that is not part of the command's result.
    static func note(_ text: String) { writeError("locsearch: \(text)\n") }

    /// Asks the user a question. Every answer except yes means no, and so does the end of the input.
    static func confirms(_ question: String) -> Bool {
        writeError("\(question) [y/N] ")
        guard let answer = readLine() else {
            writeError("\n")
            note("no terminal to ask for confirmation: give --yes")
            return false
        }
        return ["y", "yes"].contains(answer.lowercased())
    }

    /// Replaces the last line of standard error if that is a terminal.
    static func progress(_ text: String) {
        if errorIsTerminal { writeError("\r\u{1B}[K\(text)") }
    }

    /// Removes the progress line.
    static func endProgress() { progress("") }

    /// Writes a text to standard error, without a line feed.
    static func writeError(_ text: String) {
        _ = LineOutput.write(Array(text.utf8)[...], to: STDERR_FILENO)
    }
}
