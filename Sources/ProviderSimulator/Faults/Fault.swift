/// What goes wrong with one request instead of an answer.
enum Fault: Hashable, Sendable {
    /// A status of the front end's, with a page of HTML; 300...599.
    case http(Int, RetryHint?)
    /// An error of the provider's own, in its own shape.
    case provider(ProviderError, RetryHint?)
    /// Status 200 and a body that is not what it should be.
    case body(WrongBody)
    /// Content-Length says more than comes, then the connection ends.
    case truncated
    /// Chunked, without the last chunk.
    case cutChunked
    /// Content-Encoding gzip, and it is not.
    case damagedGzip
    /// Megabytes of blanks within a JSON object.
    case huge(Int)
    /// Never answered.
    case hang
    /// Half of the body, then nothing any more.
    case hangInBody
    /// The body in pieces, over so many milliseconds.
    case drip(Int)
    /// RST before the first byte.
    case reset
    /// RST after half of the body.
    case resetInBody
    /// The connection ends without a byte.
    case close

    enum WrongBody: String, CaseIterable, Sendable {
        case html, empty, garbage, xml, cut, deep, shape, utf8, none
    }

    /// Reads what stands behind `fault:`, such as `503=2`; upper and lower case are the same.
    /// - Returns: `nil` for what is no fault.
    init?(_ spelling: some StringProtocol) {
        let parts = spelling.lowercased().split(separator: "=", maxSplits: 1)
        guard let name = parts.first.map(String.init) else { return nil }
        let value = parts.count == 2 ? parts[1] : nil
        if name.count == 3, let code = Int(name), (300...599).contains(code) {
            self = .http(code, value.flatMap { RetryHint($0) })
            return
        }
        if let error = ProviderError.all[name] {
            self = .provider(error, value.flatMap { RetryHint($0) })
            return
        }
        if let body = WrongBody(rawValue: name) {
            self = .body(body)
            return
        }
        switch name {
        case "truncated": self = .truncated
        case "cut-chunked": self = .cutChunked
        case "bad-gzip": self = .damagedGzip
        case "huge": self = .huge(min(max(value.flatMap { Int($0) } ?? 100, 1), 4096))
        case "hang": self = .hang
        case "hang-body": self = .hangInBody
        case "drip": self = .drip(min(max(value.flatMap { Int($0) } ?? 10_000, 1), 600_000))
        case "reset": self = .reset
        case "reset-body": self = .resetInBody
        case "close": self = .close
        default: return nil
        }
    }

    /// The name under which the statistics count it.
    var outcome: String {
        switch self {
        case .http(let code, _): "http-\(code)"
        case .provider(let error, _): "fault-\(error.name)"
        case .body(let body): "fault-\(body.rawValue)"
        case .truncated: "fault-truncated"
        case .cutChunked: "fault-cut-chunked"
        case .damagedGzip: "fault-bad-gzip"
        case .huge: "fault-huge"
        case .hang: "fault-hang"
        case .hangInBody: "fault-hang-body"
        case .drip: "fault-drip"
        case .reset: "fault-reset"
        case .resetInBody: "fault-reset-body"
        case .close: "fault-close"
        }
    }
}
