internal import NIOCore

/// Google's style of JSON: each member on its own line, indented by two spaces for each level.
enum JSONLayout {
    /// Formats JSON.
    /// - Parameters:
    ///   - json: valid JSON without blanks.
    ///   - start: the number of levels that enclose it.
    static func lay(_ json: [UInt8], depth start: Int = 0) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: json.count * 2)
        var (depth, isInText, isEscaped) = (start, false, false)

        func breakLine() {
            buffer.writeInteger(UInt8(ascii: "\n"))
            buffer.writeRepeatingByte(UInt8(ascii: " "), count: depth * 2)
        }

        for (index, byte) in json.enumerated() {
            // The code of a closing bracket is 2 above that of the opening one.
            let isClosing = !isInText && (byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]"))
            if isClosing, json[index - 1] != byte - 2 {
                depth -= 1
                breakLine()
            }

            buffer.writeInteger(byte)
            switch byte {
            case UInt8(ascii: "\"") where !isEscaped: isInText.toggle()
            case _ where isInText: break
            case UInt8(ascii: ","): breakLine()
            case UInt8(ascii: ":"): buffer.writeInteger(UInt8(ascii: " "))
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard json[index + 1] != byte + 2 else { break }
                depth += 1
                breakLine()
            default: break
            }
            isEscaped = isInText && byte == UInt8(ascii: "\\") && !isEscaped
        }
        return buffer
    }
}
