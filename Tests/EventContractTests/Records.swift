import LocationSearch

@testable import EventContract

/// Records that tests decode.
enum Records {
    static let source = SourcePosition(topic: "requests", partition: 3, offset: 42)

    static func decode(_ text: String) throws(RejectedRecord) -> DecodedRequest {
        try RequestDecoder().decode(IncomingRecord(source: source, value: Array(text.utf8)))
    }
}
