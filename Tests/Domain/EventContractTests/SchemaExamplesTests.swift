import Foundation
import TestSupport
import Testing

@testable import EventContract
@testable import LocationSearch
@testable import ProviderCalls

/// The schemas' examples and the decoder must agree. `schemas/validate.py` checks the same files with other tools.
struct SchemaExamplesTests {
    private static let folder = Repository.folder.appending(path: "schemas/examples")

    private static func files(in path: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder.appending(path: path), includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
    }

    static func requests() throws -> [[UInt8]] {
        try files(in: "request").map { Array(try Data(contentsOf: $0)) }
    }

    /// Returns the values of the examples that must be rejected.
    static func invalidRequests() throws -> [[UInt8]] { try files(in: "invalid/request").map { try value(of: $0) } }

    private static func value(of file: URL) throws -> [UInt8] {
        let example = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        return Array(try JSONSerialization.data(withJSONObject: #require(example?["value"])))
    }

    @Test(arguments: Envelope.allCases)
    func `Valid requests are accepted`(envelope: Envelope) throws {
        let files = try Self.files(in: "request")
        #expect(files.count > 5)
        for file in files {
            let record = Records.record(Array(try Data(contentsOf: file)), in: envelope)
            #expect(throws: Never.self, "\(file.lastPathComponent)") { try Records.decode(record) }
        }
    }

    /// Readers copy the examples, so their page tokens must be accepted by a worker.
    @Test func `Page tokens of requests continue their search`() throws {
        var tokens = 0
        for file in try Self.files(in: "request") {
            let request = try Records.decode(Records.record(Array(try Data(contentsOf: file)))).request
            guard request.pageToken != nil else { continue }
            tokens += 1
            #expect(throws: Never.self, "\(file.lastPathComponent)") { try request.addressedToProviders() }
        }
        #expect(tokens > 0)
    }

    private struct Invalid: Decodable {
        var expectedMember: String
    }

    @Test func `Invalid requests name their member`() throws {
        let files = try Self.files(in: "invalid/request")
        #expect(files.count > 20)
        for file in files {
            let expected = try JSONDecoder().decode(Invalid.self, from: Data(contentsOf: file)).expectedMember
            let rejected = Records.rejection(of: Records.record(try Self.value(of: file)))
            #expect(rejected?.error.member == expected, "\(file.lastPathComponent)")
        }
    }

    @Test(arguments: ["result", "error"])
    func `Outcomes are read back`(kind: String) throws {
        for file in try Self.files(in: kind) {
            let event = try OutcomeReader().read(value: Array(try Data(contentsOf: file)), headers: [])
            #expect(event.unreadablePlaces == 0 && event.completedAt != nil, "\(file.lastPathComponent)")
            switch event.body {
            case .completed: #expect(kind == "result")
            case .failed: #expect(kind == "error")
            }
        }
    }
}
