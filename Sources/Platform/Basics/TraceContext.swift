/// A span of a trace (W3C Trace Context), such as the one named by a request's record. Later spans continue the trace.
public struct TraceContext: Sendable, Hashable {
    /// The version, trace id, parent id and flags, joined by hyphens: 55 bytes of lower-case hexadecimal and hyphens,
    /// in version 00.
    private var parent: [UInt8]
    /// The `tracestate` of tracing systems, which is passed on unchanged.
    public let traceState: [UInt8]?

    /// The longest `tracestate` that is passed on, in bytes. The standard requires at least 512.
    private static let longestState = 4096

    /// Parses the headers `traceparent` and `tracestate`.
    /// - Parameter state: Dropped if it is invalid; the trace is still continued.
    /// - Returns: `nil` if `parent` is invalid.
    public init?(traceparent parent: [UInt8], tracestate state: [UInt8]? = nil) {
        guard let parent = Self.valid(parent) else { return nil }
        self.parent = parent
        traceState = state.flatMap { Self.isValid(state: $0) ? $0 : nil }
    }

    /// Begins a trace.
    /// - Parameter traceID: The id of the trace in two halves. 0 is invalid and becomes 1.
    /// - Parameter spanID: The id of its first span. 0 is invalid and becomes 1.
    /// - Parameter isSampled: Whether the programs that continue the trace should record it.
    public init(traceID: (high: UInt64, low: UInt64), spanID: UInt64, isSampled: Bool) {
        parent = Array("00-\(String(repeating: "0", count: 32))-\(String(repeating: "0", count: 16))-00".utf8)
        traceState = nil
        write(traceID.high, endingAt: 18)
        write(traceID.high == 0 ? max(traceID.low, 1) : traceID.low, endingAt: 34)
        write(max(spanID, 1), endingAt: 51)
        if isSampled { parent[54] = Self.hexDigits[1] }
    }

    /// The value for a `traceparent` header.
    public var traceparent: [UInt8] { parent }

    /// The id of the trace: 32 hexadecimal digits.
    public var traceID: String { String(decoding: parent[3..<35], as: UTF8.self) }

    /// The id of the span: 16 hexadecimal digits.
    public var spanID: String { String(decoding: parent[36..<52], as: UTF8.self) }

    public var traceIDBytes: [UInt8] { Self.bytes(of: parent[3..<35]) }

    /// The 8 bytes of the span's id.
    public var spanIDBytes: [UInt8] { Self.bytes(of: parent[36..<52]) }

    /// The flags of the header: bit 0 means that the trace is recorded, bit 1 that its id is random.
    public var flags: UInt8 { Self.value(of: parent[54]).map(UInt8.init) ?? 0 }

    /// True if the programs that continue the trace should record it.
    public var isSampled: Bool { flags & 1 == 1 }

    /// Returns a child span in the same trace.
    /// - Parameter parentID: The id of the child. 0 is invalid and becomes 1.
    public func child(parentID: UInt64) -> TraceContext {
        var child = self
        child.write(max(parentID, 1), endingAt: 51)
        return child
    }

    /// Returns the same span with another decision about recording.
    package func sampled(_ isSampled: Bool) -> TraceContext {
        var span = self
        span.parent[54] = Self.hexDigits[Int(flags & 0b10) | (isSampled ? 1 : 0)]
        return span
    }

    /// The lower half of the trace's id.
    package var lowTraceID: UInt64 { traceIDBytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) } }

    /// Writes a number as 16 digits, the last one at index `last`.
    private mutating func write(_ number: UInt64, endingAt last: Int) {
        var rest = number
        for index in stride(from: last, to: last - 16, by: -1) {
            parent[index] = Self.hexDigits[Int(rest & 0xF)]
            rest >>= 4
        }
    }

    private static func bytes(of digits: ArraySlice<UInt8>) -> [UInt8] {
        stride(from: digits.startIndex, to: digits.endIndex, by: 2).map { index in
            UInt8((value(of: digits[index]) ?? 0) << 4 | (value(of: digits[index + 1]) ?? 0))
        }
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)

    /// Validates a `traceparent`.
    /// - Returns: The parent in the form of version 00, which later versions may only extend.
    private static func valid(_ text: [UInt8]) -> [UInt8]? {
        let hyphen = UInt8(ascii: "-")
        guard text.count >= 55, text.count <= 512, text[2] == hyphen, text[35] == hyphen, text[52] == hyphen,
            let version = number(text, 0..<2), version != 0xFF, let flags = number(text, 53..<55),
            text.count == 55 || (version > 0 && text[55] == hyphen), isID(text, 3..<35), isID(text, 36..<52)
        else { return nil }

        // Only the flags "sampled" and "random trace id" are defined. The others must be sent as 0.
        let known = flags & 0b11
        if version == 0, known == flags { return text }
        var parent = Array(text.prefix(55))
        (parent[0], parent[1], parent[53], parent[54]) = (hexDigits[0], hexDigits[0], hexDigits[0], hexDigits[known])
        return parent
    }

    /// Returns whether the text consists of lower-case hexadecimal digits that are not all 0.
    private static func isID(_ text: [UInt8], _ range: Range<Int>) -> Bool {
        var bits = 0
        for index in range {
            guard let value = value(of: text[index]) else { return false }
            bits |= value
        }
        return bits != 0
    }

    private static func number(_ text: [UInt8], _ range: Range<Int>) -> Int? {
        var number = 0
        for index in range {
            guard let value = value(of: text[index]) else { return nil }
            number = number << 4 | value
        }
        return number
    }

    /// Returns the value of a hexadecimal digit. Upper case is invalid.
    private static func value(of digit: UInt8) -> Int? {
        digit.isDigit || digit.isLowercaseLetter ? digit.hexadecimalValue.map(Int.init) : nil
    }

    // MARK: tracestate

    /// Returns whether the state has 1 to 32 entries `key=value` joined by commas, without duplicate keys.
    private static func isValid(state: [UInt8]) -> Bool {
        guard state.count <= longestState else { return false }
        var keys: Set<ArraySlice<UInt8>> = []
        for entry in state.split(separator: UInt8(ascii: ",")) {
            let entry = trimmed(entry)
            if entry.isEmpty { continue }
            guard let equals = entry.firstIndex(of: UInt8(ascii: "=")), isKey(entry[..<equals]),
                isValue(entry[(equals + 1)...]), keys.insert(entry[..<equals]).inserted
            else { return false }
        }
        return (1...32).contains(keys.count)
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }

    /// Returns whether a key is `system` with up to 256 characters, or `tenant@system` with up to 241 and 14.
    private static func isKey(_ key: ArraySlice<UInt8>) -> Bool {
        let parts = key.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard let first = parts.first?.first, let system = parts.last, parts.count <= 2,
            key.allSatisfy({ $0.isLowercaseLetter || $0.isDigit || "_-*/@".utf8.contains($0) })
        else { return false }

        let isTenant = parts.count == 2
        guard first.isLowercaseLetter || (isTenant && first.isDigit) else { return false }
        return isTenant
            ? parts[0].count <= 241 && system.count <= 14 && system.first?.isLowercaseLetter == true
            : key.count <= 256
    }

    /// Returns whether a value has 1 to 256 bytes of printable ASCII without comma and equals sign. The value was
    /// trimmed before, so it has no space at its end.
    private static func isValue(_ value: ArraySlice<UInt8>) -> Bool {
        (1...256).contains(value.count)
            && value.allSatisfy {
                (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=")
            }
    }
}

extension UInt8 {
    fileprivate var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

/// Generates ids for trace spans. They are evenly distributed and not secret (SplitMix64, Steele, Lea and Flood 2014).
public struct SpanIDs: Sendable {
    private var state: UInt64

    /// Makes a sequence that is determined by the seed.
    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
