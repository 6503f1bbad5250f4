#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Standard output and error of a command for people.
enum Terminal {
    static var errorIsTerminal: Bool { isatty(2) == 1 }

    /// A line to standard output, seen at once also through a pipe.
    static func line(_ text: String = "") {
        print(text)
        fflushStandardOutput()
    }

    /// A line to standard error: what is not the command's result.
    static func note(_ text: String) { writeError("locsearch: \(text)\n") }

    /// Replaces the last line of standard error, when that is a terminal.
    static func progress(_ text: String) {
        if errorIsTerminal { writeError("\r\u{1B}[K\(text)") }
    }

    /// Takes the progress line away.
    static func endProgress() { progress("") }

    static func writeError(_ text: String) {
        var bytes = Array(text.utf8)
        _ = unsafe write(2, &bytes, bytes.count)
    }
}

/// Whether a process of that number exists.
func processIsAlive(_ pid: Int32) -> Bool { pid > 0 && (kill(pid, 0) == 0 || errno == EPERM) }

/// Our own process.
var ownProcessID: Int32 { getpid() }
