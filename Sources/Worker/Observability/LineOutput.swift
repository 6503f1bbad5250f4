internal import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file descriptor that lines go to. Thread-safe, and no call but `flush` ever waits for the reader.
///
/// Lines are written by a thread of their own: a reader of our log that has stopped reading would otherwise stop
/// whichever event loop logs next. What cannot be written yet waits in a buffer. Once that is full, lines are dropped
/// and counted until the reader has caught up; a line in their place then says how many are missing.
package final class LineOutput: Sendable {
    package static let standardError = LineOutput(2)

    /// The bytes that may wait for the reader: some thousand lines.
    private static let defaultLimit = 1 << 20
    /// A write to a slow reader returns after at most so many bytes, and makes room for as many.
    private static let pieceSize = 65_536

    private struct State {
        /// Whole lines that the writer has not taken yet.
        var buffer: [UInt8] = []
        /// The buffer's bytes, and those that the writer has taken and not written.
        var waiting = 0
        /// Lines dropped since the writer last caught up, and how to say so.
        var missing = 0
        var notice: (@Sendable (Int) -> String)?
        var dropped = 0
        var isWriting = false
    }

    private let fileDescriptor: Int32
    private let limit: Int
    private let state = Mutex(State())
    private let writer = DispatchQueue(label: "log-writer")
    /// Is entered while anything waits.
    private let writing = DispatchGroup()

    /// True when lines are read by a person at once.
    package let isTerminal: Bool

    init(_ fileDescriptor: Int32, limit: Int = LineOutput.defaultLimit) {
        self.fileDescriptor = fileDescriptor
        self.limit = limit
        isTerminal = isatty(fileDescriptor) == 1
    }

    /// The number of lines that were dropped so far, because nobody read what was written before them.
    package var droppedLines: Int { state.withLock { $0.dropped } }

    /// Takes a line to be written as soon as the reader lets it; returns at once.
    /// - Parameter line: the text with its line feed.
    /// - Parameter notice: makes the line that stands in the place of the given number of dropped ones.
    package func write(
        _ line: String,
        inPlaceOfDropped notice: @escaping @Sendable (Int) -> String = LineOutput.plainNotice
    ) {
        let mustStart = state.withLock { state in
            // Nothing is taken behind a gap before the line about the gap is, or it would stand in the wrong place.
            guard state.missing == 0, state.waiting + line.utf8.count <= limit else {
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

    /// Says how many lines are missing, as a plain line.
    package static func plainNotice(_ count: Int) -> String {
        "locsearch: \(count) log lines were dropped, nobody read them\n"
    }

    /// Waits until every line taken so far is written, which a process does before it ends.
    /// - Parameter bound: the longest time to wait for a reader that does not read.
    package func flush(within bound: Duration) {
        let milliseconds = bound / .milliseconds(1)
        _ = writing.wait(timeout: .now() + .milliseconds(Int(milliseconds)))
    }

    // MARK: - The writer's thread

    private func writeWhatWaits() {
        while let bytes = takeWhatWaits() {
            var start = 0
            while start < bytes.count {
                let end = min(start + Self.pieceSize, bytes.count)
                // Bytes that nobody can read any more are lost.
                _ = Self.write(bytes[start..<end], to: fileDescriptor)
                state.withLock { $0.waiting -= end - start }
                start = end
            }
        }
    }

    /// Returns the buffer, or the line about a gap once everything before the gap is written; `nil` when nothing waits.
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

    /// Writes all of the bytes, for however long the reader makes it wait.
    /// - Returns: false where that is not possible; `errno` says why.
    package static func write(_ bytes: ArraySlice<UInt8>, to fileDescriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe systemWrite(fileDescriptor, $0) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Somebody who shares the descriptor has made it non-blocking.
                var entry = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&entry, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #else
            unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}
