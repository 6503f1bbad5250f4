/// Writes the wire format of Protocol Buffers: https://protobuf.dev/programming-guides/encoding/.
///
/// As in proto3, a field with its default value is omitted.
struct ProtobufWriter {
    /// The second part of a field's tag.
    private enum WireType: UInt64 {
        case varint = 0
        case fixed64 = 1
        case lengthDelimited = 2
        case fixed32 = 5
    }

    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// Writes an integer, an enumeration or a boolean.
    mutating func varint(_ field: UInt64, _ value: UInt64) {
        if value != 0 { presentVarint(field, value) }
    }

    /// Writes an integer even if it is 0, as required for a member of a `oneof`.
    mutating func presentVarint(_ field: UInt64, _ value: UInt64) {
        tag(field, .varint)
        append(varint: value)
    }

    mutating func fixed64(_ field: UInt64, _ value: UInt64) {
        if value != 0 { presentFixed64(field, value) }
    }

    mutating func presentFixed64(_ field: UInt64, _ value: UInt64) {
        tag(field, .fixed64)
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func fixed32(_ field: UInt64, _ value: UInt32) {
        guard value != 0 else { return }
        tag(field, .fixed32)
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func data(_ field: UInt64, _ value: [UInt8]) {
        guard !value.isEmpty else { return }
        tag(field, .lengthDelimited)
        append(varint: UInt64(value.count))
        bytes += value
    }

    mutating func text(_ field: UInt64, _ value: String) {
        if !value.isEmpty { presentText(field, value) }
    }

    mutating func presentText(_ field: UInt64, _ value: String) {
        tag(field, .lengthDelimited)
        append(varint: UInt64(value.utf8.count))
        bytes += value.utf8
    }

    mutating func message(_ field: UInt64, write: (inout ProtobufWriter) -> Void) {
        tag(field, .lengthDelimited)

        // The length precedes the content and is known only after it. Moving the content costs less than measuring it
        // first.
        let start = bytes.count
        write(&self)
        var length = ProtobufWriter()
        length.append(varint: UInt64(bytes.count - start))
        bytes.insert(contentsOf: length.bytes, at: start)
    }

    private mutating func tag(_ field: UInt64, _ type: WireType) { append(varint: field << 3 | type.rawValue) }

    private mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
