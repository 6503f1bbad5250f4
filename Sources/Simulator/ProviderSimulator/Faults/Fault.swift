/// A failure that replaces the correct answer to one request.
struct Fault: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// A status of the provider's front end, 300 to 599, with an HTML page.
        case http(Int)
        /// An error of the provider, in its own format.
        case provider(ProviderError)
        /// Status 200 with a wrong body.
        case body(WrongBody)
        /// A transfer that stops, ends early or takes long.
        case transfer(WrongTransfer)
    }

    /// A transfer that stops, ends early or takes long. The raw value is its name; `FaultTable` describes each.
    enum WrongTransfer: String, Sendable {
        case truncated, huge, hang, drip, reset, close
        case cutChunked = "cut-chunked"
        case damagedGzip = "bad-gzip"
        case hangInBody = "hang-body"
        case resetInBody = "reset-body"
    }

    let kind: Kind
    /// The number after the name: the seconds until a retry is useful, or a size or duration of the transfer.
    let number: Int?
    /// The name under which the statistics count the fault.
    let outcome: String

    /// Parses a fault without its prefix `fault:`, such as `503=2`, ignoring case; `nil` for a text that is not a
    /// fault.
    init?(_ spelling: some StringProtocol) {
        let parts = spelling.lowercased().split(separator: "=", maxSplits: 1)
        guard let name = parts.first.map(String.init) else { return nil }

        number = parts.count == 2 ? Int(parts[1]) : nil
        if name.count == 3, let code = Int(name), (300...599).contains(code) {
            (kind, outcome) = (.http(code), "http-\(code)")
            return
        }

        outcome = "fault-\(name)"
        if let error = ProviderError.all[name] {
            kind = .provider(error)
        } else if let body = WrongBody(rawValue: name) {
            kind = .body(body)
        } else if let transfer = WrongTransfer(rawValue: name) {
            kind = .transfer(transfer)
        } else {
            return nil
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
    /// Setting the bit 0x20 makes letters lower-case.
    static func isMentioned(in bytes: [UInt8]) -> Bool { bytes.map { $0 | 0x20 }.contains(mark) }

    private static let mark = Array("fault".utf8)

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
