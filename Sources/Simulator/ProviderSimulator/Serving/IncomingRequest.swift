internal import NIOCore
internal import NIOHTTP1

/// A completely received request.
struct IncomingRequest {
    let method: HTTPMethod
    let path: Substring
    let query: QueryParameters
    let headers: HTTPHeaders
    let body: [UInt8]
    let isKeptAlive: Bool
    let isVersion10: Bool
    /// A fingerprint of everything except the key, so that equal searches with different keys have the same one.
    let fingerprint: UInt64
    let endpoint: Endpoint
    /// False for almost all requests, whose texts then need not be searched for faults.
    private let mayAskForFaults: Bool

    init(head: HTTPRequestHead, body: ByteBuffer) {
        (method, headers) = (head.method, head.headers)
        isKeptAlive = head.isKeepAlive
        isVersion10 = head.version == .http1_0
        self.body = Array(body.readableBytesView)

        let bytes = Array(head.uri.utf8)
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        path = Substring(head.uri.utf8.prefix(mark))
        endpoint = Endpoint(path)

        var fingerprint = Fingerprint()
        fingerprint.combine(bytes[..<mark])
        query = QueryParameters(bytes, from: mark + 1, fingerprint: &fingerprint)
        mayAskForFaults = FaultPlan.isMentioned(in: bytes) || FaultPlan.isMentioned(in: self.body)
        fingerprint.combine(self.body)
        self.fingerprint = fingerprint.value
    }

    /// The API key, from the place where the called API expects it; `nil` if there is none.
    var key: String? {
        endpoint.api == .googlePlaces ? headers.first(name: "X-Goog-Api-Key") : query["key"]
    }

    /// The fault that the request asks for in a keyword, a type or a place id; `nil` if there is none.
    var plan: FaultPlan? {
        guard mayAskForFaults else { return nil }
        var plan = FaultPlan()
        for pair in query.pairs where pair.name != "key" { plan.read(pair.value) }
        plan.read(QueryParameters.decodePath(path))
        if !body.isEmpty { plan.read(String(decoding: body, as: UTF8.self)) }
        return plan == FaultPlan() ? nil : plan
    }

    /// The value of the answer's `Connection` header; `nil` if it is the default of the HTTP version.
    var connectionHeader: StaticString? {
        isKeptAlive ? (isVersion10 ? "keep-alive" : nil) : "close"
    }
}
