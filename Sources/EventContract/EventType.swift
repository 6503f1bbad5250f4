/// `type` of the three events: contract, add, never rename.
package enum EventType: String, CaseIterable, Sendable {
    case requested = "location-search.requested.v1"
    case completed = "location-search.completed.v1"
    case failed = "location-search.failed.v1"
}

/// Names and values of CloudEvents 1.0 and its Kafka binding.
enum CloudEvents {
    static let specVersion = "1.0"
    static let json = "application/json"
    static let structuredJSON = "application/cloudevents+json"

    /// The media type of a content type: without its parameters, in lower case.
    static func mediaType(of contentType: [UInt8]) -> String? {
        guard let text = String(validating: contentType.prefix(256), as: UTF8.self) else { return nil }
        let type = text.prefix { $0 != ";" }
        return String(type.drop { $0 == " " }.prefix { $0 != " " && $0 != "\t" }).lowercased()
    }

    /// Whether data of that media type is JSON (RFC 6839).
    static func isJSON(_ mediaType: String) -> Bool {
        mediaType == json || mediaType == "text/json" || mediaType.hasSuffix("+json")
    }
}
