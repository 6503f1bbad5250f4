import Foundation
import LocationSearch
import Testing

@testable import EventContract

/// The schemas' examples and the decoder must agree: `schemas/validate.py` judges the same files with other tools.
struct SchemaExamplesTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "schemas/examples")

    private static func files(in path: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder.appending(path: path), includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
    }

    @Test(arguments: Envelope.allCases)
    func validRequestsAreAccepted(envelope: Envelope) throws {
        let files = try Self.files(in: "request")
        #expect(files.count > 5)
        for file in files {
            let record = Records.record(Array(try Data(contentsOf: file)), in: envelope)
            #expect(throws: Never.self, "\(file.lastPathComponent)") { try Records.decode(record) }
        }
    }

    private struct Invalid: Decodable {
        var expectedMember: String
    }

    @Test func invalidRequestsNameTheirMember() throws {
        let files = try Self.files(in: "invalid/request")
        #expect(files.count > 20)
        for file in files {
            let example = try Data(contentsOf: file)
            let expected = try JSONDecoder().decode(Invalid.self, from: example).expectedMember
            let value = try #require(try JSONSerialization.jsonObject(with: example) as? [String: Any])["value"]
            let body = try JSONSerialization.data(withJSONObject: #require(value))
            let rejected = Records.rejection(of: Records.record(Array(body)))
            #expect(rejected?.error.member == expected, "\(file.lastPathComponent)")
        }
    }

    @Test(arguments: ["result", "error"])
    func outcomesAreReadBack(kind: String) throws {
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
