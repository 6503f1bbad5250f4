/// What is kept of an answer's status line and headers, taken in line by line as curl reports them.
struct ResponseHead {
    /// All heads of one answer together (interim ones, trailers). curl's own limit, which newer versions have.
    static let maxBytes = 300 * 1024

    private(set) var hasBegun = false
    /// The empty line has come.
    private(set) var isComplete = false
    private(set) var location: String?
    private(set) var retryAfter: String?
    private(set) var contentType: String?
    private var size = 0
    /// The same answer after answer: one `String` serves them all.
    private var usualContentType = "application/json; charset=utf-8"

    mutating func reset() {
        (hasBegun, isComplete, size) = (false, false, 0)
        (location, retryAfter, contentType) = (nil, nil, nil)
    }

    /// - Parameter line: with its line break.
    /// - Returns: `false` when the head is too large.
    mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
        size += line.count
        guard size <= Self.maxBytes, let first = line.first else { return size <= Self.maxBytes }
        switch first | 0x20 {
        case UInt8(ascii: "h"):
            // An interim answer (1xx) has a head of its own; the last one counts.
            if line.starts(with: "HTTP/".utf8) { (hasBegun, isComplete) = (true, false) }
        case UInt8(ascii: "\r") | 0x20, UInt8(ascii: "\n") | 0x20: isComplete = true
        case _ where isComplete: break  // a trailer
        case UInt8(ascii: "c"):
            if contentType == nil, let value = value(of: "content-type", in: line) { setContentType(value) }
        case UInt8(ascii: "l"):
            if location == nil {
                location = value(of: "location", in: line).map { String(decoding: $0, as: UTF8.self) }
            }
        case UInt8(ascii: "r"):
            if retryAfter == nil {
                retryAfter = value(of: "retry-after", in: line).map { String(decoding: $0, as: UTF8.self) }
            }
        default: break
        }
        return true
    }

    private mutating func setContentType(_ value: UnsafeRawBufferPointer) {
        let isUsual = usualContentType.utf8.count == value.count && value.elementsEqual(usualContentType.utf8)
        if !isUsual { usualContentType = String(decoding: value, as: UTF8.self) }
        contentType = usualContentType
    }

    /// - Parameter name: in small letters.
    private func value(of name: StaticString, in line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let length = name.utf8CodeUnitCount
        guard line.count > length, line[length] == UInt8(ascii: ":") else { return nil }
        for index in 0..<length where line[index] | 0x20 != name.utf8Start[index] | 0x20 { return nil }
        func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }
        var (start, end) = (length + 1, line.count)
        while start < end, isBlank(line[start]) { start += 1 }
        while end > start, isBlank(line[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: line[start..<end])
    }
}
