internal import JSON
internal import NIOCore

/// Hot Pepper's XML, made from its JSON: members become elements, the elements of an array repeat the array's name.
enum XMLText {
    /// - Parameter json: one object of our own making, its first member the root.
    static func from(_ json: [UInt8]) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: json.count * 3 / 2)
        buffer.writeStaticString("<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n")
        var reader = JSONReader(json.span)
        guard (try? members(&reader, json, isRoot: true, &buffer)) != nil else { return ByteBuffer() }
        return buffer
    }

    private static func members(
        _ reader: inout JSONReader, _ json: [UInt8], isRoot: Bool, _ buffer: inout ByteBuffer
    ) throws(JSONError) {
        guard try reader.enterObject() else { return }
        while let key = try reader.nextKey() {
            let name = try key.string()
            if try reader.kind() == .array {
                _ = try reader.enterArray()
                while try reader.nextElement() { try element(name, &reader, json, isRoot: false, &buffer) }
            } else {
                try element(name, &reader, json, isRoot: isRoot, &buffer)
            }
        }
    }

    private static func element(
        _ name: String, _ reader: inout JSONReader, _ json: [UInt8], isRoot: Bool, _ buffer: inout ByteBuffer
    ) throws(JSONError) {
        buffer.writeString("<\(name)")
        if isRoot { buffer.writeStaticString(" xmlns=\"http://webservice.recruit.co.jp/HotPepper/\"") }
        buffer.writeStaticString(">")
        switch try reader.kind() {
        case .object: try members(&reader, json, isRoot: false, &buffer)
        case .string: escape(try reader.string() ?? "", &buffer)
        default:
            let range = try reader.skippedRange()
            buffer.writeBytes(json[range])
        }
        buffer.writeString("</\(name)>")
    }

    private static func escape(_ text: String, _ buffer: inout ByteBuffer) {
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
