public import Basics
import JSON
public import LocationSearch

/// Writes requests as events, for clients: CloudEvents 1.0 in binary mode. An encoder has one owner at a time.
public struct RequestEncoder: ~Copyable {
    /// A request event as a record.
    public struct EncodedRequest: Sendable, Hashable {
        /// The id of the session, so that one session stays in one partition, or the request's id without a session.
        public let key: [UInt8]
        public let value: [UInt8]
        /// The attributes of the event, and its trace.
        public let headers: [RecordHeader]
    }

    private let source: String
    private var json = JSONWriter(capacity: 1024)

    /// Makes an encoder for one sender.
    /// - Parameter source: `ce_source`, a URI reference that identifies the sender.
    public init(source: String = "/locsearch") {
        self.source = source
    }

    /// Writes one request.
    /// - Parameters:
    ///   - request: not validated, so that invalid requests can be sent too.
    ///   - priority: the class in the request; `nil`: the class of its topic.
    ///   - expiry: the time until which an outcome is wanted. A worker that begins the request later calls no provider. `nil`: no limit.
    public mutating func encode(
        _ request: SearchRequest, at time: WallTime, expiry: WallTime? = nil, priority: RequestClass? = nil,
        trace: TraceContext? = nil
    ) -> EncodedRequest {
        json.beginObject()
        json.member("requestId", request.requestID)
        json.member("operation", request.operation.rawValue)
        json.member("provider", request.provider.named?.rawValue ?? "auto")
        let options = request.options
        if options.categories.isEmpty { json.member("category", request.category) }
        json.member("categories", options.categories)
        json.member("excludeCategories", options.excludedCategories)
        json.member("rankBy", options.ranking?.rawValue)
        json.member("include", options.parts.map(\.rawValue).sorted())
        if let location = request.location { json.member("location", location) }
        json.member("radiusMeters", request.radiusMeters)
        json.member("keyword", request.keyword)
        json.member("language", request.language)
        json.member("openNow", request.openNow)
        json.member("limit", request.limit)
        json.member("pageToken", request.pageToken)
        json.member("placeId", request.placeID)
        json.member("sessionId", request.sessionID)
        json.member("priority", priority?.rawValue)
        json.member("timeoutMs", request.timeout?.milliseconds(roundedUp: false))
        json.endObject()

        return EncodedRequest(
            key: Array((request.sessionID ?? request.requestID).utf8), value: json.finish(),
            headers: headers(id: request.requestID, time: time, expiry: expiry, trace: trace))
    }

    private func headers(id: String, time: WallTime, expiry: WallTime?, trace: TraceContext?) -> [RecordHeader] {
        var headers = [
            OutcomeEncoder.specVersion, RecordHeader("ce_id", text: id), RecordHeader("ce_source", text: source),
            RecordHeader("ce_type", text: EventType.requested.rawValue), RecordHeader("ce_time", time.bytes),
            OutcomeEncoder.contentType,
        ]

        if let expiry { headers.append(RecordHeader("ce_expirytime", expiry.bytes)) }
        if let trace { headers.append(RecordHeader("traceparent", trace.traceparent)) }
        if let state = trace?.traceState { headers.append(RecordHeader("tracestate", state)) }
        return headers
    }
}
