import Foundation
import Logging
import Testing

@testable import Observability

struct LineLogHandlerTests {
    /// A handler that writes into a pipe, and what came out of it.
    private func lines(
        _ format: LineLogHandler.Format, level: Logger.Level = .trace, _ body: (Logger) -> Void
    ) throws -> [String] {
        let pipe = Pipe()
        let output = LineOutput(pipe.fileHandleForWriting.fileDescriptor)
        body(Logger(label: "test") { LineLogHandler(label: $0, format: format, level: level, output: output) })
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
    func everyTextSurvivesAsJSON(text: String) throws {
        let written = try lines(.json) { $0.info("\(text)", metadata: ["key": "\(text)"]) }
        #expect(written.count == 1)
        let event = try object(written[0])
        #expect(event["message"] as? String == text)
        #expect((event["metadata"] as? [String: Any])?["key"] as? String == text)
        #expect(event["level"] as? String == "info")
    }

    @Test func timesAreRFC3339() throws {
        let before = Date()
        let event = try object(try lines(.json) { $0.warning("now") }[0])
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let time = try format.parse(try #require(event["ts"] as? String))
        #expect(abs(time.timeIntervalSince(before)) < 60)
    }

    @Test func nestedMetadataKeepsItsShape() throws {
        let written = try lines(.json) { $0.info("x", metadata: ["list": ["a", "b"], "map": ["k": "v"]]) }
        let metadata = try #require(try object(written[0])["metadata"] as? [String: Any])
        #expect(metadata["list"] as? [String] == ["a", "b"])
        #expect(metadata["map"] as? [String: String] == ["k": "v"])
    }

    /// A stranger's text cannot begin a line of its own, nor steer a terminal.
    @Test func textStaysOnItsLine() throws {
        let written = try lines(.text) { $0.info("a\nb", metadata: ["key": "c\r\n\u{1B}[31md"]) }
        #expect(written.count == 1)
        #expect(written[0].hasSuffix("info a b key=c   [31md"))
    }

    @Test func lessSevereLinesAreLeftOut() throws {
        let written = try lines(.json, level: .warning) { log in
            log.info("left out")
            log.error("written")
        }
        #expect(written.count == 1)
    }

    @Test(arguments: [LineLogHandler.Format.json, .text], ["in message", "in metadata"])
    func secretsNeverGetOut(format: LineLogHandler.Format, place: String) throws {
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

    @Test func aReaderThatIsStuckCostsLinesNotTime() throws {
        let pipe = Pipe()
        let output = LineOutput(pipe.fileHandleForWriting.fileDescriptor, patience: 20)
        let line = String(repeating: "x", count: 1023) + "\n"
        let begin = ContinuousClock.now
        for _ in 0..<10_000 { output.write(line) }  // 10 MB into a pipe of 64 KB that nobody reads
        #expect(begin.duration(to: .now) < .seconds(5))
        // Whoever reads again learns that lines are missing.
        var room = Data()
        while room.count < 32_768 { room += pipe.fileHandleForReading.availableData }
        output.write("after\n")
        try pipe.fileHandleForWriting.close()
        let rest = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        #expect(rest.contains("log lines were dropped, nobody read them\nafter\n"))
    }
}

struct SecretRegistryTests {
    @Test(arguments: [
        ("no secret here", "no secret here"), ("key=abcd-1234.", "key=***."), ("abcd-1234abcd-1234", "******"),
        ("?key=a%2Fb%20c", "?key=***"), ("a/b c", "***"), ("abcd-1234-longer", "***"),
    ])
    func replacesEveryForm(text: String, expected: String) {
        let registry = SecretRegistry()
        for secret in ["abcd-1234", "a/b c", "abcd-1234-longer", "abc"] { registry.add(secret) }
        #expect(registry.redacted(text) == expected)
    }
}
