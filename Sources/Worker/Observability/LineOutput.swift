internal import Dispatch
import Glibc
import Synchronization

/// A file descriptor for lines. Thread-safe; no call except `flush` and the static `write(_:to:)` waits for the reader.
///
/// A dedicated thread writes the lines. Otherwise a log reader that has stopped reading would block the next event loop
/// that logs. Lines that cannot be written yet wait in a buffer. Once it is full, lines are dropped and counted until
/// the reader has caught up. A line in their place then reports their number.
package final class LineOutput: Sendable {
    package static let standardError = LineOutput(2)

    /// The most bytes that wait for the reader: a few thousand lines.
    private static let defaultLimit = 1 << 20
    /// The most bytes of one write. After each write to a slow reader, the buffer has room for as many.
    private static let pieceSize = 65_536

    private struct State {
        /// Whole lines that the writer has not taken yet.
        var buffer: [UInt8] = []
        /// The bytes in the buffer, and those that the writer has taken and not written.
        var waiting = 0
        /// The number of lines dropped since the writer last caught up, and the function that makes the line about
        /// them.
        var missing = 0
        var notice: (@Sendable (Int) -> String)?
        var dropped = 0
        var isWriting = false
    }

    private let fileDescriptor: Int32
    private let limit: Int
    private let state = Mutex(State())
    private let writer = DispatchQueue(label: "log-writer")
    /// Entered while any line waits.
    private let writing = DispatchGroup()

    /// True if the descriptor is a terminal.
    package let isTerminal: Bool

    init(_ fileDescriptor: Int32, limit: Int = LineOutput.defaultLimit) {
        self.fileDescriptor = fileDescriptor
        self.limit = limit
        isTerminal = isatty(fileDescriptor) == 1
    }

    /// The total number of lines dropped because the reader was too slow.
    package var droppedLines: Int { state.withLock { $0.dropped } }

    /// Queues a line for writing, and returns at once.
    /// - Parameter line: the text with its line feed.
    /// - Parameter notice: makes the line that replaces the given number of dropped lines.
    package func write(
        _ line: String,
        inPlaceOfDropped notice: @escaping @Sendable (Int) -> String = LineOutput.plainNotice
    ) {
        let mustStart = state.withLock { state in
            // No line is accepted after a gap before the line about the gap, because that would be in the wrong place.
            // If nothing waits, a line of any length is accepted: no writer runs that could report its gap.
            guard state.missing == 0, state.waiting == 0 || state.waiting + line.utf8.count <= limit else {
                state.missing += 1
                state.dropped += 1
                state.notice = notice
                return false
            }

            state.buffer += line.utf8
            state.waiting += line.utf8.count
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard mustStart else { return }

        writing.enter()
        writer.async { [self] in
            writeWhatWaits()
            writing.leave()
        }
    }

    /// Returns a plain-text line with the number of dropped lines.
    package static func plainNotice(_ count: Int) -> String {
        "locsearch: \(count) log lines were dropped because their reader was too slow\n"
    }

    /// Waits until every queued line is written. A process calls it before it ends.
    /// - Parameter bound: the longest wait for a reader that does not read.
    package func flush(within bound: Duration) {
        let milliseconds = bound / .milliseconds(1)
        _ = writing.wait(timeout: .now() + .milliseconds(Int(milliseconds)))
    }

    // MARK: - The writer thread

    private func writeWhatWaits() {
        while let bytes = takeWhatWaits() {
            var start = 0
            while start < bytes.count {
                let end = min(start + Self.pieceSize, bytes.count)
                // If the reader has closed the descriptor, these bytes are lost.
                _ = Self.write(bytes[start..<end], to: fileDescriptor)
                state.withLock { $0.waiting -= end - start }
                start = end
            }
        }
    }

    /// Returns the buffer, or the line about a gap once everything before the gap is written; `nil` if nothing waits.
    private func takeWhatWaits() -> [UInt8]? {
        state.withLock { state in
            if state.buffer.isEmpty, state.missing > 0, let notice = state.notice {
                state.buffer = Array(notice(state.missing).utf8)
                state.waiting += state.buffer.count
                state.missing = 0
                state.notice = nil
            }
            if state.buffer.isEmpty {
                state.isWriting = false
                return nil
            }
            defer { state.buffer = [] }
            return state.buffer
        }
    }

    /// Writes all bytes, and waits for the reader as long as necessary.
    /// - Returns: false if writing failed; `errno` has the reason.
    package static func write(_ bytes: ArraySlice<UInt8>, to fileDescriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe systemWrite(fileDescriptor, $0) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Another process that shares the descriptor has made it non-blocking.
                var entry = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&entry, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }
}
