internal import NIOCore
internal import NIOHTTP1

/// A request that has arrived as a whole.
struct IncomingRequest {
    let method: HTTPMethod
    let uri: String
    let path: Substring
    let query: QueryParameters
    let headers: HTTPHeaders
    let body: [UInt8]
    let isKeptAlive: Bool
    let isVersion10: Bool
    /// Of everything but the key.
    let fingerprint: UInt64
    let endpoint: Endpoint
    /// Almost none does, and then no text need be looked through.
    private let mayAskForFaults: Bool

    init(head: HTTPRequestHead, body: ByteBuffer?) {
        (method, uri, headers) = (head.method, head.uri, head.headers)
        isKeptAlive = head.isKeepAlive
        isVersion10 = head.version == .http1_0
        self.body = body.map { Array($0.readableBytesView) } ?? []
        let bytes = Array(uri.utf8)
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        path = Substring(uri.utf8.prefix(mark))
        endpoint = Endpoint(path)
        var fingerprint = Fingerprint()
        fingerprint.combine(bytes[..<mark])
        query = QueryParameters(bytes, from: mark + 1, fingerprint: &fingerprint)
        mayAskForFaults = FaultPlan.isMentioned(in: bytes) || FaultPlan.isMentioned(in: self.body)
        fingerprint.combine(self.body)
        self.fingerprint = fingerprint.value
    }

    /// The key of the API that was called, wherever it came; `nil`: none came.
    var key: String? {
        guard endpoint.api == .new else { return query["key"] }
        return headers.first(name: "X-Goog-Api-Key") ?? query["key"] ?? query["$key"]
    }

    /// An OAuth token, which New takes instead of a key.
    var bearer: Substring? {
        guard let value = headers.first(name: "Authorization"), value.hasPrefix("Bearer ") else { return nil }
        return value.dropFirst(7)
    }

    /// The faults it asks for in a keyword, a type or a place id; `nil`: none.
    var plan: FaultPlan? {
        guard mayAskForFaults else { return nil }
        var plan = FaultPlan()
        for pair in query.pairs where pair.name != "key" { plan.read(pair.value) }
        plan.read(QueryParameters.decodePath(path))
        if !body.isEmpty { plan.read(body) }
        return plan == FaultPlan() ? nil : plan
    }

    /// How it stands in the log.
    var loggedBody: String { body.isEmpty ? "" : String(decoding: body.prefix(2048), as: UTF8.self) }
}
