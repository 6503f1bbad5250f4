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

    init(head: HTTPRequestHead, body: ByteBuffer?) {
        (method, uri, headers) = (head.method, head.uri, head.headers)
        isKeptAlive = head.isKeepAlive
        isVersion10 = head.version == .http1_0
        self.body = body.map { Array($0.readableBytesView) } ?? []
        let mark = uri.utf8.firstIndex(of: UInt8(ascii: "?"))
        path = uri[..<(mark ?? uri.endIndex)]
        endpoint = Endpoint(path)
        var fingerprint = Fingerprint()
        fingerprint.combine(path.utf8)
        let rest = if let mark { uri[uri.utf8.index(after: mark)...] } else { "" as Substring }
        query = QueryParameters(rest, fingerprint: &fingerprint)
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
        var plan = FaultPlan()
        for pair in query.pairs where pair.name != "key" { plan.read(pair.value) }
        if path.utf8.count > 20 { plan.read(QueryParameters.decode(path)) }
        if !body.isEmpty { plan.read(body) }
        return plan == FaultPlan() ? nil : plan
    }

    /// How it stands in the log.
    var loggedBody: String { body.isEmpty ? "" : String(decoding: body.prefix(2048), as: UTF8.self) }
}
