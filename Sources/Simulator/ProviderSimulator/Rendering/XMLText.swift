internal import JSON
internal import NIOCore

/// Converts Hot Pepper's JSON to its XML. A member becomes an element, and an array becomes several elements with its
/// name.
enum XMLText {
    /// Converts `json`, which must be a valid object. Its first member becomes the root element.
    static func from(_ json: [UInt8]) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: json.count * 3 / 2)
        buffer.writeStaticString("<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n")
        var reader = JSONReader(json.span)
        guard (try? writeMembers(from: &reader, of: json, isRoot: true, to: &buffer)) != nil else {
            return ByteBuffer()
        }
        return buffer
    }

    private static func writeMembers(
        from reader: inout JSONReader, of json: [UInt8], isRoot: Bool, to buffer: inout ByteBuffer
    ) throws(JSONError) {
        guard try reader.enterObject() else { return }
        while let key = try reader.nextKey() {
            let name = try key.string()
            if try reader.kind() == .array {
                _ = try reader.enterArray()
                while try reader.nextElement() {
                    try writeElement(name, from: &reader, of: json, isRoot: false, to: &buffer)
                }
            } else {
                try writeElement(name, from: &reader, of: json, isRoot: isRoot, to: &buffer)
            }
        }
    }

    private static func writeElement(
        _ name: String, from reader: inout JSONReader, of json: [UInt8], isRoot: Bool, to buffer: inout ByteBuffer
    ) throws(JSONError) {
        buffer.writeString("<\(name)")
        if isRoot { buffer.writeStaticString(" xmlns=\"http://webservice.recruit.co.jp/HotPepper/\"") }
        buffer.writeStaticString(">")

        switch try reader.kind() {
        case .object: try writeMembers(from: &reader, of: json, isRoot: false, to: &buffer)
        case .string: writeEscaped(try reader.string() ?? "", to: &buffer)
        default:
            let range = try reader.skippedRange()
            buffer.writeBytes(json[range])
        }

        buffer.writeString("</\(name)>")
    }

    private static func writeEscaped(_ text: String, to buffer: inout ByteBuffer) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "<"): buffer.writeStaticString("&lt;")
            case UInt8(ascii: ">"): buffer.writeStaticString("&gt;")
            case UInt8(ascii: "&"): buffer.writeStaticString("&amp;")
            default: buffer.writeInteger(byte)
            }
        }
    }
}
