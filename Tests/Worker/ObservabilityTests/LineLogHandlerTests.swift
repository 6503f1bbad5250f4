import Basics
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Observability

struct LineLogHandlerTests {
    /// Runs `body` with a handler that writes into a pipe, and returns the lines.
    private func lines(
        _ format: LineLogHandler.Format, level: Logger.Level = .trace, _ body: (Logger) -> Void
    ) throws -> [String] {
        let pipe = Pipe()
        let output = LineOutput(pipe.fileHandleForWriting.fileDescriptor)
        body(Logger(label: "test") { LineLogHandler(label: $0, format: format, level: level, output: output) })
        output.flush(within: .seconds(10))
        try pipe.fileHandleForWriting.close()
        let data = try #require(try pipe.fileHandleForReading.readToEnd())
        let text = try #require(String(data: data, encoding: .utf8))
        #expect(text.hasSuffix("\n"))
        return text.dropLast().components(separatedBy: "\n")
    }

    private func object(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test(arguments: ["plain", "quote \" and \\", "two\nlines\r\n", "tab\t bell\u{7} nul\u{0}", "日本語 🍜 e\u{301}"])
    func `Every text survives as JSON`(text: String) throws {
        let written = try lines(.json) { $0.info("\(text)", metadata: ["key": "\(text)"]) }
        #expect(written.count == 1)
        let event = try object(written[0])
        #expect(event["message"] as? String == text)
        #expect((event["metadata"] as? [String: Any])?["key"] as? String == text)
        #expect(event["level"] as? String == "info")
    }

    @Test func `Times are in RFC 3339`() throws {
        let before = Date()
        let event = try object(try lines(.json) { $0.warning("now") }[0])
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let time = try format.parse(try #require(event["ts"] as? String))
        #expect(abs(time.timeIntervalSince(before)) < 60)
    }

    @Test func `Nested metadata keeps its shape`() throws {
        let written = try lines(.json) { $0.info("x", metadata: ["list": ["a", "b"], "map": ["k": "v"]]) }
        let metadata = try #require(try object(written[0])["metadata"] as? [String: Any])
        #expect(metadata["list"] as? [String] == ["a", "b"])
        #expect(metadata["map"] as? [String: String] == ["k": "v"])
    }

    /// Untrusted text can neither start a new line nor control a terminal.
    @Test func `A text stays on its line`() throws {
        let written = try lines(.text) { $0.info("a\nb", metadata: ["key": "c\r\n\u{1B}[31md"]) }
        #expect(written.count == 1)
        #expect(written[0].hasSuffix("info a b key=c   [31md"))
    }

    @Test func `Less severe lines are left out`() throws {
        let written = try lines(.json, level: .warning) { log in
            log.info("left out")
            log.error("written")
        }
        #expect(written.count == 1)
    }

    @Test(arguments: [LineLogHandler.Format.json, .text], ["in message", "in metadata"])
    func `Secrets are never written`(format: LineLogHandler.Format, place: String) throws {
        let secret = "s3cr\"et\\/\(place)"
        SecretRegistry.shared.add(secret)
        let written = try lines(format) { log in
            if place == "in message" {
                log.info("key=\(secret)&x")
            } else {
                log.info("x", metadata: ["url": "\(secret)"])
            }
        }
        #expect(!written[0].contains("s3cr"))
        #expect(written[0].contains("***"))
    }

    /// Each line is larger than what a writable pipe must accept at once (4 KB).
    @Test func `A line longer than the buffer is written, and so are the following ones`() throws {
        let pipe = Pipe()
        let output = LineOutput(pipe.fileHandleForWriting.fileDescriptor, limit: 1000)
        output.write(String(repeating: "x", count: 2000) + "\n")
        output.flush(within: .seconds(10))
        output.write("after\n")
        output.flush(within: .seconds(10))
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        #expect(text.utf8.count == 2007 && text.hasSuffix("after\n"))
    }

    @Test(arguments: [LineLogHandler.Format.json, .text], [1000, 9000])
    func `A reader that is stuck costs lines and no time`(format: LineLogHandler.Format, length: Int) async throws {
        let pipe = Pipe()
        let output = LineOutput(pipe.fileHandleForWriting.fileDescriptor, limit: 200_000)
        let log = Logger(label: "test") { LineLogHandler(label: $0, format: format, level: .info, output: output) }
        let text = String(repeating: "x", count: length)

        // Written by a separate thread, because a blocked writer would hang the test.
        let isDone = Flag()
        Thread.detachNewThread {
            for _ in 0..<1000 { log.info("\(text)") }
            isDone.set()
        }
        // Each line is searched for the secrets of all earlier tests, which takes a while.
        try await eventually("the writer has logged everything", within: .seconds(90)) { isDone.isSet }
        let dropped = output.droppedLines
        #expect(dropped > 100)

        // The reader reads again: all kept lines, then the number of missing lines, then the following lines.
        let reader = LineReader(pipe.fileHandleForReading)
        try await eventually("the gap is told") {
            reader.text.contains("log lines were dropped because their reader was too slow")
        }
        log.info("after")
        output.flush(within: .seconds(10))
        try pipe.fileHandleForWriting.close()
        try await eventually("the rest is there") { reader.text.contains("after") }

        let lines = reader.text.split(separator: "\n")
        #expect(lines.count == 1000 - dropped + 2)
        #expect(lines.prefix(1000 - dropped).allSatisfy { $0.contains(text) })
        #expect(lines.dropLast().last?.contains("\(dropped)") == true)
        if format == .json {
            for line in lines { _ = try object(String(line)) }
        }
    }

    @Test func `A flush returns although the pipe is not read`() throws {
        // The output still writes when the pipe is closed at the end of this test. Programs ignore the signal for that.
        _ = signal(SIGPIPE, SIG_IGN)
        let pipe = Pipe()
        let output = LineOutput(pipe.fileHandleForWriting.fileDescriptor)
        output.write(String(repeating: "x", count: 500_000) + "\n")

        let begin = Instant.now
        output.flush(within: .milliseconds(100))
        #expect((Duration.milliseconds(90)..<Duration.seconds(5)).contains(begin.duration(to: .now)))
        withExtendedLifetime(pipe) {}
    }
}

private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// Reads a pipe to its end on a dedicated thread.
private final class LineReader: Sendable {
    private let bytes = Mutex(Data())
    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

    init(_ file: FileHandle) {
        Thread.detachNewThread { [self] in
            while case let more = file.availableData, !more.isEmpty { bytes.withLock { $0 += more } }
        }
    }
}

struct SecretRegistryTests {
    @Test(arguments: [
        ("no secret here", "no secret here"), ("key=abcd-1234.", "key=***."), ("abcd-1234abcd-1234", "******"),
        ("?key=a%2Fb%20c", "?key=***"), ("a/b c", "***"), ("abcd-1234-longer", "***"),
    ])
    func `Every form of a secret is replaced`(text: String, expected: String) {
        let registry = SecretRegistry()
        for secret in ["abcd-1234", "a/b c", "abcd-1234-longer", "abc"] { registry.add(secret) }
        #expect(registry.redacted(text) == expected)
    }
}
