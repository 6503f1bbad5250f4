/// A collector's response to an accepted export: an `ExportTraceServiceResponse`.
struct OTLPAnswer {
    /// The number of spans that the collector rejected although it accepted the others, 0 or more; 0 if the response
    /// cannot be parsed.
    let rejectedSpans: Int

    /// Parses the response body, of which only `partial_success.rejected_spans` is used.
    init(_ body: [UInt8]) {
        var response = ProtobufReader(body[...])
        var rejected: UInt64 = 0
        while let (field, value) = response.next() {
            guard field == 1, case .bytes(let partial) = value else { continue }
            var success = ProtobufReader(partial)
            while let (field, value) = success.next() {
                if field == 1, case .number(let number) = value { rejected = number }
            }
        }
        // The specification defines a signed number. A negative one counts as 0.
        rejectedSpans = max(0, Int(clamping: Int64(bitPattern: rejected)))
    }
}

/// Reads the fields of a Protocol Buffers message in order. Stops at the first byte that it cannot parse.
private struct ProtobufReader {
    enum Value {
        case number(UInt64)
        case bytes(ArraySlice<UInt8>)
        case other
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func next() -> (field: UInt64, value: Value)? {
        guard let tag = varint() else { return nil }
        switch tag & 7 {
        case 0: return varint().map { (tag >> 3, .number($0)) }
        case 1: return take(8) != nil ? (tag >> 3, .other) : nil
        case 2: return varint().flatMap { take($0) }.map { (tag >> 3, .bytes($0)) }
        case 5: return take(4) != nil ? (tag >> 3, .other) : nil
        default: return nil
        }
    }

    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    private mutating func take(_ count: UInt64) -> ArraySlice<UInt8>? {
        guard count <= UInt64(rest.count) else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }
}
