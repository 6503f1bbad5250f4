/// A failure that replaces the correct answer to one request.
enum Fault: Hashable, Sendable {
    /// A status of the provider's front end, 300 to 599, with an HTML page.
    case http(Int, RetryHint?)
    /// An error of the provider, in its own format.
    case provider(ProviderError, RetryHint?)
    /// Status 200 with a wrong body.
    case body(WrongBody)
    /// The connection closes before Content-Length is reached.
    case truncated
    /// The connection closes before the last chunk of a chunked body.
    case cutChunked
    /// The body is declared as gzip, but its data are damaged.
    case damagedGzip
    /// The body is a JSON object with this many megabytes of blanks.
    case huge(Int)
    /// The request is never answered.
    case hang
    /// Half of the body arrives, and then nothing more.
    case hangInBody
    /// The body arrives in pieces, over this many milliseconds.
    case drip(Int)
    /// The connection is reset before the first byte.
    case reset
    /// The connection is reset after half of the body.
    case resetInBody
    /// The connection closes without a byte.
    case close

    /// Parses a fault without its prefix `fault:`, such as `503=2`, ignoring case; `nil` for a text that is not a
    /// fault.
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

    /// The name under which the statistics count the fault.
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
