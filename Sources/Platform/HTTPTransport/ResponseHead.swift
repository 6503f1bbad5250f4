internal import LibC

/// The needed parts of a response's head, received line by line from curl.
struct ResponseHead {
    /// The maximum total size of all heads of one response, including interim heads and trailers. Newer versions of
    /// curl have the same limit.
    static let maxBytes = 300 * 1024

    /// True after a status line.
    private(set) var hasBegun = false
    /// True after the empty line that ends the last head.
    private(set) var isComplete = false
    private(set) var location: String?
    private(set) var retryAfter: String?
    private(set) var contentType: String?
    private(set) var date: String?
    private let keepsDate: Bool
    private var size = 0
    /// True if the head exceeded the limit.
    var isTooLarge: Bool { size > Self.maxBytes }
    /// The last content type. Most responses have the same one, and then share this `String`.
    private var usualContentType = "application/json; charset=utf-8"

    init(keepsDate: Bool = false) { self.keepsDate = keepsDate }

    /// Clears the last response.
    mutating func reset() {
        (hasBegun, isComplete, size) = (false, false, 0)
        clearFields()
    }

    private mutating func clearFields() {
        (location, retryAfter, contentType) = (nil, nil, nil)
        if keepsDate { date = nil }
    }

    /// Processes one line, including its line break.
    /// - Returns: `false` if the head is too large.
    mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
        size += line.count
        guard !isTooLarge, let first = line.first else { return !isTooLarge }

        switch first | 0x20 {
        case UInt8(ascii: "h"):
            guard line.starts(with: "HTTP/".utf8) else { break }
            // An interim response (1xx) has its own head. The last head counts.
            if isComplete { clearFields() }
            (hasBegun, isComplete) = (true, false)
        case _ where first == UInt8(ascii: "\r") || first == UInt8(ascii: "\n"): isComplete = true
        case _ where isComplete: break  // a trailer
        case UInt8(ascii: "c"):
            if contentType == nil, let value = value(of: "content-type", in: line) { setContentType(value) }
        case UInt8(ascii: "d") where keepsDate:
            date = value(of: "date", in: line).map { String(decoding: $0, as: UTF8.self) } ?? date
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
        let isUsual = usualContentType.utf8.span.withUnsafeBytes { $0.hasSameBytes(as: value) }
        if !isUsual { usualContentType = String(decoding: value, as: UTF8.self) }
        contentType = usualContentType
    }

    /// Returns the value of a header line, without surrounding blanks; `nil` for a line with another name.
    /// - Parameter name: The header's name in lower case.
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

extension UnsafeRawBufferPointer {
    /// Returns whether both contain the same bytes. `elementsEqual` uses iterators, which need thirty instructions per
    /// byte.
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, count) == 0
    }
}
