import Basics

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
        let number = value.flatMap { Int($0) }
        let hint = value.flatMap { RetryHint($0) }

        if name.count == 3, let code = Int(name), (300...599).contains(code) {
            self = .http(code, hint)
        } else if let error = ProviderError.all[name] {
            self = .provider(error, hint)
        } else if let body = WrongBody(rawValue: name) {
            self = .body(body)
        } else {
            switch name {
            case "truncated": self = .truncated
            case "cut-chunked": self = .cutChunked
            case "bad-gzip": self = .damagedGzip
            case "huge": self = .huge(min(max(number ?? 100, 1), 4096))
            case "hang": self = .hang
            case "hang-body": self = .hangInBody
            case "drip": self = .drip(min(max(number ?? 10_000, 1), 600_000))
            case "reset": self = .reset
            case "reset-body": self = .resetInBody
            case "close": self = .close
            default: return nil
            }
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

/// The time that a client should wait before it tries again.
enum RetryHint: Hashable, Sendable {
    case seconds(Int)
    /// An HTTP date this many seconds in the future.
    case date(secondsAhead: Int)

    /// Parses `2` or `date2`.
    init?(_ text: some StringProtocol) {
        let isDate = text.hasPrefix("date")
        guard let seconds = Int(text.dropFirst(isDate ? 4 : 0)), (-86_400...86_400).contains(seconds) else {
            return nil
        }
        self = isDate ? .date(secondsAhead: seconds) : .seconds(seconds)  // bounded: a case of this type
    }

    /// The value of a `Retry-After` header.
    var header: String {
        switch self {
        case .seconds(let seconds): String(seconds)
        // bounded: a day at most
        case .date(let ahead): HTTPDate.text(WallTime.now().milliseconds / 1000 + Int64(ahead))
        }
    }

    /// The time in seconds.
    var seconds: Int {
        switch self {
        case .seconds(let seconds), .date(let seconds): seconds
        }
    }
}

/// The fault that a request asks for with `fault:` in any of its texts.
struct FaultPlan: Hashable, Sendable {
    var delayMilliseconds = 0
    var fault: Fault?
    /// How often the fault occurs for the same request; `nil`: always.
    var times: Int?

    /// Returns `true` if a text may contain `fault:`, so that it should be decoded. The text may be percent-encoded.
    static func isMentioned(in bytes: [UInt8]) -> Bool {
        var index = 0
        while index <= bytes.count - "fault:".utf8.count {
            // The rarest letters are compared first. bounded: the mark fits after the index.
            if bytes[index] | 0x20 == UInt8(ascii: "f"), bytes[index + 2] | 0x20 == UInt8(ascii: "u"),
                // bounded: as above
                bytes[index + 3] | 0x20 == UInt8(ascii: "l"), bytes[index + 4] | 0x20 == UInt8(ascii: "t")
            {
                return true
            }
            index += 1
        }
        return false
    }

    /// Reads the faults in a decoded text. Unknown faults are ignored.
    mutating func read(_ text: String) {
        let parts = text.lowercased().split(separator: "fault:", omittingEmptySubsequences: false)
        for part in parts.dropFirst() { read(word: part.prefix { !Self.ends($0) }) }
    }

    private mutating func read(word: Substring) {
        let parts = word.split(separator: "*", maxSplits: 1)
        guard let spelling = parts.first else { return }
        if spelling.hasPrefix("delay=") {
            delayMilliseconds = min(max(Int(spelling.dropFirst(6)) ?? 0, 0), 600_000)
        } else if let fault = Fault(spelling) {
            self.fault = fault
            if parts.count == 2 { times = Int(parts[1]) }
        }
    }

    /// Returns `true` for a character that ends a fault's name, such as a blank, a quote or U+3000.
    private static func ends(_ character: Character) -> Bool {
        guard let byte = character.asciiValue else { return true }
        return byte <= 0x20 || byte == 0x7F || #"",\/&|+"#.utf8.contains(byte)
    }
}
