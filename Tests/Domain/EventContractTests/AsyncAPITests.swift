import Foundation
import TestSupport
import Testing

@testable import EventContract
@testable import LocationSearch

/// schemas/asyncapi.yaml names every header and attribute that the code reads or writes.
///
/// `schemas/validate.py` checks the document itself, and `SchemaExamplesTests` the events' values.
struct AsyncAPITests {
    private static let document = Repository.folder.appending(path: "schemas/asyncapi.yaml")

    /// Returns the properties of a schema or a message: the keys of its `properties`, at any depth.
    private func properties(of name: String) throws -> Set<String> {
        let lines = try String(contentsOf: Self.document, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        func depth(_ line: Substring) -> Int { line.prefix { $0 == " " }.count }

        let start = try #require(lines.firstIndex(of: "    \(name):"), "\(name) is in the document")
        let end = lines[(start + 1)...].firstIndex { !$0.isEmpty && depth($0) <= 4 } ?? lines.endIndex
        let block = lines[start..<end]

        let head = try #require(block.firstIndex { $0.trimmingCharacters(in: .whitespaces) == "properties:" })
        let inside = depth(lines[head]) + 2
        return Set(
            block[(head + 1)...].filter { depth($0) == inside }.compactMap { $0.split(separator: ":").first }
                .map { $0.trimmingCharacters(in: .whitespaces) })
    }

    private func names(_ headers: [RecordHeader]) -> Set<String> { Set(headers.map(\.name)) }

    private static let trace = [
        RecordHeader("traceparent", text: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        RecordHeader("tracestate", text: "a=b"),
    ]

    /// The attributes that `EventAttributes` reads from headers and from a structured event.
    @Test func `Every attribute of a request is described`() throws {
        let attributes = [
            "specversion", "id", "source", "type", "time", "expirytime", "priority", "traceparent", "tracestate",
        ]
        let headers = Set(attributes.map { "ce_\($0)" } + ["content-type", "traceparent", "tracestate"])
        #expect(try properties(of: "requestHeaders") == headers)
        #expect(
            try properties(of: "structuredRequest")
                == Set(attributes + ["datacontenttype", "data", "data_base64"]))

        var encoder = RequestEncoder()
        let request = SearchRequest(requestID: "r", location: Coordinate(latitude: 1, longitude: 2))
        #expect(names(encoder.encode(request, at: .now()).headers).isSubset(of: headers))
    }

    @Test func `Every header of an outcome is described`() throws {
        // The only outcome with all of them: the error for a worker's own result, with steps and a trace.
        let result = RecordHeader("ce_type", text: EventType.completed.rawValue)
        let record = Records.record([1], headers: [result] + Self.trace)
        let rejected = try #require(Records.rejection(of: record))
        var encoder = OutcomeEncoder()
        let event = encoder.encode(
            rejected, receivedAt: .now(), completedAt: .now(), steps: RequestSteps(topicWait: .zero))
        #expect(try names(event.headers) == properties(of: "outcomeHeaders"))
    }

    @Test func `Every header of a dead letter and of its mark is described`() throws {
        let record = Records.record([1])
        let error = SearchError(.invalidRequest, "no", member: "location")
        let letter = DeadLetter(record, error: error, isOutcome: true, at: .now(), worker: "pod-1", tries: 3)
        #expect(
            try names(letter.headers).union(names(letter.withoutContent.headers))
                == properties(of: "deadLetterHeaders"))

        #expect(try names(RedriveMark(partition: 1, offset: 2).headers) == properties(of: "redriveMarkHeaders"))
    }
}
