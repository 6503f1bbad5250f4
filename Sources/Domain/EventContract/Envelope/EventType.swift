// Records are declared in Basics, which is re-exported for files that read them.
@_exported public import Basics

/// The `type` of each of the three events. The texts are contract: add one, never rename one.
public enum EventType: String, CaseIterable, Sendable {
    case requested = "location-search.requested.v1"
    case completed = "location-search.completed.v1"
    case failed = "location-search.failed.v1"
}

/// The values of CloudEvents 1.0 and its Kafka binding.
enum CloudEvents {
    static let specVersion = "1.0"
    static let json = "application/json"
    static let structuredJSON = "application/cloudevents+json"
}

/// The names of headers that are not part of CloudEvents.
enum HeaderName {
    /// Marks the error event about an outcome in the requests topic. If this event is written there too, it is not
    /// answered.
    @inline(__always) static var answersOutcome: StaticString { "answers-outcome" }
    /// Holds the steps of the request.
    static let steps = "request-steps"
}

/// The format of a record's value, from its content type. Parameters and case do not matter.
enum ContentType: Hashable {
    case json
    /// A CloudEvent in structured mode, as JSON.
    case structuredJSON
    /// A CloudEvent in another format, or several in one record.
    case otherEvent
    case other

    private static let plainJSON = Array(CloudEvents.json.utf8)

    init(_ text: [UInt8]) {
        if text == Self.plainJSON {
            self = .json
            return
        }

        let blanks: Set<Character> = [" ", "\t"]
        let type = String(decoding: text.prefix(256), as: UTF8.self).lowercased().prefix { $0 != ";" }
        let name = type.drop { blanks.contains($0) }.prefix { !blanks.contains($0) }
        if name == CloudEvents.structuredJSON {
            self = .structuredJSON
        } else if name.hasPrefix("application/cloudevents") {
            self = .otherEvent
        } else {
            // RFC 6839: a suffix names the syntax.
            self = name == CloudEvents.json || name == "text/json" || name.hasSuffix("+json") ? .json : .other
        }
    }
}
