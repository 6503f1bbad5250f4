import Basics
import LocationSearch

@testable import EventContract

/// The layout of a request in its record.
enum Envelope: CaseIterable, Sendable {
    case bare, binary, structured, structuredBase64
}

/// Records to be decoded.
enum Records {
    static let source = SourcePosition(topic: "requests", partition: 3, offset: 42)
    static let timestamp = WallTime(milliseconds: 1_700_000_000_000)

    static func record(
        _ value: [UInt8]?, key: [UInt8]? = nil, headers: [RecordHeader] = []
    ) -> ConsumerRecord {
        ConsumerRecord(source: source, timestamp: timestamp, key: key, value: value, headers: headers)
    }

    /// A record with the request `body`, in that envelope.
    static func record(_ body: [UInt8], in envelope: Envelope) -> ConsumerRecord {
        switch envelope {
        case .bare: record(body)
        case .binary: record(body, headers: eventHeaders)
        case .structured: record(structured("data", body), headers: [structuredType])
        case .structuredBase64:
            record(structured("data_base64", Array("\"\(Base64.encode(body))\"".utf8)), headers: [structuredType])
        }
    }

    static let eventHeaders = [
        RecordHeader("ce_specversion", text: "1.0"), RecordHeader("ce_id", text: "event-1"),
        RecordHeader("ce_source", text: "/tests"), RecordHeader("ce_type", text: "location-search.requested.v1"),
        RecordHeader("ce_time", text: "2026-11-21T09:30:00.25Z"),
        RecordHeader("content-type", text: "application/json"),
    ]
    static let structuredType = RecordHeader("content-type", text: "application/cloudevents+json; charset=UTF-8")

    private static func structured(_ member: String, _ json: [UInt8]) -> [UInt8] {
        let start = """
            {"specversion":"1.0","id":"event-1","source":"/tests","type":"location-search.requested.v1",
             "time":"2026-11-21T09:30:00.25Z","datacontenttype":"application/json","\(member)":
            """
        return Array(start.utf8) + json + Array("}".utf8)
    }

    static func decode(_ record: ConsumerRecord) throws(RejectedRecord) -> DecodedRequest {
        try RequestDecoder().decode(record)
    }

    static func decode(_ text: String, in envelope: Envelope = .bare) throws(RejectedRecord) -> DecodedRequest {
        try decode(record(Array(text.utf8), in: envelope))
    }

    /// Returns the rejection of a record; `nil` if it is accepted.
    static func rejection(of record: ConsumerRecord) -> RejectedRecord? {
        do throws(RejectedRecord) {
            _ = try decode(record)
            return nil
        } catch {
            return error
        }
    }

    static func rejection(of text: String, in envelope: Envelope = .bare) -> RejectedRecord? {
        rejection(of: record(Array(text.utf8), in: envelope))
    }

    /// A search with one additional member.
    static func search(with member: String) -> String {
        #"{"location":{"latitude":35.5,"longitude":139.5},\#(member)}"#
    }
}
