/// The fault that a request asks for with `fault:` in any of its texts.
struct FaultPlan: Hashable, Sendable {
    var delayMilliseconds = 0
    var fault: Fault?
    /// How often the fault occurs for the same request; `nil`: always.
    var times: Int?

    private static let mark = Array("fault:".utf8)

    /// Returns `true` if a text may contain `fault:`, so that it should be decoded. The text may be percent-encoded.
    static func isMentioned(in bytes: [UInt8]) -> Bool {
        guard bytes.count >= mark.count else { return false }
        var index = 0
        while index <= bytes.count - mark.count {
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
        guard text.utf8.count > Self.mark.count else { return }
        read(Array(text.utf8))
    }

    mutating func read(_ bytes: [UInt8]) {
        var index = 0
        while let start = Self.find(in: bytes, from: index) {
            var end = start
            while end < bytes.count, !Self.ends(bytes[end]) { end += 1 }
            // bounded: the end is at or after the start
            read(word: String(decoding: bytes[start..<end], as: UTF8.self))
            index = end
        }
    }

    private mutating func read(word: String) {
        let parts = word.split(separator: "*", maxSplits: 1)
        guard let spelling = parts.first else { return }
        if spelling.lowercased().hasPrefix("delay=") {
            let number = spelling.dropFirst(6)
            delayMilliseconds = min(max(Int(number) ?? 0, 0), 600_000)
        } else if let fault = Fault(spelling) {
            self.fault = fault
            if parts.count == 2 { times = Int(parts[1]) }
        }
    }

    /// Returns `true` for a byte that ends a fault's name, such as a blank, a quote or the first byte of U+3000.
    private static func ends(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte >= 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: ",")
            || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "&")
            || byte == UInt8(ascii: "|") || byte == UInt8(ascii: "+")
    }

    /// Returns the index after the next `fault:`; `nil` if there is none.
    private static func find(in bytes: [UInt8], from index: Int) -> Int? {
        guard bytes.count >= mark.count else { return nil }
        var start = index
        while start <= bytes.count - mark.count {
            if bytes[start] | 0x20 == mark[0] {
                var length = 1
                // bounded: the mark fits after the start
                while length < mark.count, bytes[start + length] | 0x20 == mark[length] | 0x20 { length += 1 }
                if length == mark.count { return start + length }  // bounded: as above
            }
            start += 1
        }
        return nil
    }
}
