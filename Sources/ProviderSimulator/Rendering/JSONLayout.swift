internal import NIOCore

/// How a provider lays its JSON out: blanks, line breaks and which characters it escapes.
struct JSONLayout {
    /// Spaces per level; 0: everything on one line.
    var indent: Int
    var colon: StaticString
    /// `<`, `>` and `&` as `\u003c`, `\u003e`, `\u0026`.
    var escapesHTML = false
    /// `/` as `\/`.
    var escapesSlash = false

    static let hotpepper = JSONLayout(indent: 0, colon: ":")
    static let hotpepperOld = JSONLayout(indent: 0, colon: ":", escapesSlash: true)
    static let legacy = JSONLayout(indent: 3, colon: " : ", escapesHTML: true)
    static let new = JSONLayout(indent: 2, colon: ": ")

    /// Lays out JSON of our own making.
    /// - Parameters:
    ///   - json: without blanks.
    ///   - depth: levels of what will stand around it.
    func lay(_ json: [UInt8], depth: Int = 0) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: json.count * (indent == 0 ? 1 : 2))
        lay(json, depth: depth, into: &buffer)
        return buffer
    }

    func lay(_ json: [UInt8], depth start: Int, into buffer: inout ByteBuffer) {
        if indent == 0, !escapesHTML, !escapesSlash {
            buffer.writeBytes(json)
            return
        }
        var (depth, index, isInText) = (start, 0, false)
        while index < json.count {
            let byte = json[index]
            if isInText {
                writeText(byte, &buffer)
                if byte == UInt8(ascii: "\\") {
                    index += 1
                    buffer.writeInteger(json[index])
                } else if byte == UInt8(ascii: "\"") {
                    isInText = false
                }
                index += 1
                continue
            }
            switch byte {
            case UInt8(ascii: "\""):
                isInText = true
                buffer.writeInteger(byte)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                buffer.writeInteger(byte)
                let isEmpty = json[index + 1] == byte + 2  // the closing brackets' codes are two higher
                if isEmpty {
                    buffer.writeInteger(json[index + 1])
                    index += 1
                } else {
                    depth += 1
                    breakLine(depth, &buffer)
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                breakLine(depth, &buffer)
                buffer.writeInteger(byte)
            case UInt8(ascii: ","):
                buffer.writeInteger(byte)
                breakLine(depth, &buffer)
            case UInt8(ascii: ":"): buffer.writeStaticString(colon)
            default: buffer.writeInteger(byte)
            }
            index += 1
        }
    }

    func breakLine(_ depth: Int, _ buffer: inout ByteBuffer) {
        guard indent > 0 else { return }
        buffer.writeInteger(UInt8(ascii: "\n"))
        buffer.writeRepeatingByte(UInt8(ascii: " "), count: depth * indent)
    }

    private func writeText(_ byte: UInt8, _ buffer: inout ByteBuffer) {
        switch byte {
        case UInt8(ascii: "<") where escapesHTML: buffer.writeStaticString("\\u003c")
        case UInt8(ascii: ">") where escapesHTML: buffer.writeStaticString("\\u003e")
        case UInt8(ascii: "&") where escapesHTML: buffer.writeStaticString("\\u0026")
        case UInt8(ascii: "/") where escapesSlash: buffer.writeStaticString("\\/")
        default: buffer.writeInteger(byte)
        }
    }
}
