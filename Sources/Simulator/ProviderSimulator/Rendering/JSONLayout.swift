internal import NIOCore

/// A provider's style of JSON: blanks, line breaks, and the escaped characters.
struct JSONLayout {
    /// The number of spaces per level.
    var indent: Int
    /// The text between a name and its value.
    var colon: StaticString
    /// True to write `<`, `>` and `&` as `\u003c`, `\u003e` and `\u0026`.
    var escapesHTML = false

    static let legacy = JSONLayout(indent: 3, colon: " : ", escapesHTML: true)
    static let googlePlaces = JSONLayout(indent: 2, colon: ": ")

    /// Formats JSON.
    /// - Parameters:
    ///   - json: valid JSON without blanks.
    ///   - depth: the number of levels that enclose it.
    func lay(_ json: [UInt8], depth: Int = 0) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: json.count * 2)
        lay(json, depth: depth, into: &buffer)
        return buffer
    }

    func lay(_ json: [UInt8], depth start: Int, into buffer: inout ByteBuffer) {
        var (depth, index) = (start, 0)
        while index < json.count {
            let byte = json[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                buffer.writeInteger(byte)
                index = layText(of: json, from: index, into: &buffer)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                buffer.writeInteger(byte)
                let isEmpty = json[index] == byte + 2  // the code of a closing bracket is 2 above the opening one
                if isEmpty {
                    buffer.writeInteger(json[index])
                    index += 1
                } else {
                    depth += 1
                    breakLine(depth: depth, into: &buffer)
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                breakLine(depth: depth, into: &buffer)
                buffer.writeInteger(byte)
            case UInt8(ascii: ","):
                buffer.writeInteger(byte)
                breakLine(depth: depth, into: &buffer)
            case UInt8(ascii: ":"): buffer.writeStaticString(colon)
            default: buffer.writeInteger(byte)
            }
        }
    }

    /// Writes a text from after its opening quote to its closing quote.
    /// - Returns: the index after the closing quote.
    private func layText(of json: [UInt8], from start: Int, into buffer: inout ByteBuffer) -> Int {
        var index = start
        while index < json.count {
            let byte = json[index]
            index += 1
            write(byte, ofTextInto: &buffer)

            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                buffer.writeInteger(json[index])
                index += 1
            }
        }
        return index
    }

    private func breakLine(depth: Int, into buffer: inout ByteBuffer) {
        buffer.writeInteger(UInt8(ascii: "\n"))
        buffer.writeRepeatingByte(UInt8(ascii: " "), count: depth * indent)
    }

    private func write(_ byte: UInt8, ofTextInto buffer: inout ByteBuffer) {
        switch byte {
        case UInt8(ascii: "<") where escapesHTML: buffer.writeStaticString("\\u003c")
        case UInt8(ascii: ">") where escapesHTML: buffer.writeStaticString("\\u003e")
        case UInt8(ascii: "&") where escapesHTML: buffer.writeStaticString("\\u0026")
        default: buffer.writeInteger(byte)
        }
    }
}
