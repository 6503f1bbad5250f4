internal import CScan

/// A key or a string value where it stands in the input, escapes and all: compared without making a `String`.
/// Lives no longer than the bytes it was read from.
public struct JSONText: ~Escapable {
    /// What stands between the quotes.
    let bytes: Span<UInt8>
    /// Of its bytes.
    @usableFromInline let count: Int
    /// Its first eight bytes, the first in the lowest place, zeros where there are fewer.
    @usableFromInline let head: UInt64
    @usableFromInline let hasEscapes: Bool
    /// Of the first byte behind the opening quote.
    let offset: Int

    @_lifetime(copy bytes)
    @inline(__always)
    init(_ bytes: Span<UInt8>, head: UInt64, hasEscapes: Bool, offset: Int) {
        self.bytes = bytes
        count = bytes.count
        self.head = head
        self.hasEscapes = hasEscapes
        self.offset = offset
    }

    public var isEmpty: Bool { count == 0 }

    /// `switch key { case "id": ... }`.
    ///
    /// Transparent, so that it is compiled into the switch in whichever module: a name is then one or two constants to
    /// compare with what was read into registers before.
    @_transparent
    public static func ~= (name: StaticString, text: borrowing JSONText) -> Bool {
        if text.hasEscapes { return text.equalsEscaped(name) }
        guard text.count == name.utf8CodeUnitCount, text.head == JSONText.head(of: name) else { return false }
        return name.utf8CodeUnitCount <= 8 || text.equalsBehindHead(name)
    }

    /// As `head` of a text.
    @inlinable
    @inline(__always)
    static func head(of name: StaticString) -> UInt64 {
        // Safe: `index` is within the name. The compiler folds this into a constant.
        let (start, count) = unsafe (name.utf8Start, name.utf8CodeUnitCount)
        var head = 0 as UInt64
        if count > 0 { head |= unsafe UInt64(start[0]) }
        if count > 1 { head |= unsafe UInt64(start[1]) << 8 }
        if count > 2 { head |= unsafe UInt64(start[2]) << 16 }
        if count > 3 { head |= unsafe UInt64(start[3]) << 24 }
        if count > 4 { head |= unsafe UInt64(start[4]) << 32 }
        if count > 5 { head |= unsafe UInt64(start[5]) << 40 }
        if count > 6 { head |= unsafe UInt64(start[6]) << 48 }
        if count > 7 { head |= unsafe UInt64(start[7]) << 56 }
        return head
    }

    @usableFromInline
    func equalsBehindHead(_ name: StaticString) -> Bool {
        // Safe: the caller compared the lengths, so `index` is within both.
        let start = unsafe name.utf8Start
        for index in 8..<count where unsafe bytes[unchecked: index] != start[index] { return false }
        return true
    }

    @usableFromInline
    func equalsEscaped(_ name: StaticString) -> Bool {
        guard let text = try? string() else { return false }
        return text == name.description
    }

    /// - Throws: `invalidUTF8`, `loneSurrogate`.
    public func string() throws(JSONError) -> String {
        // Escapes are ASCII, so raw validity is the text's validity.
        guard let text = try? UTF8Span(validating: bytes) else { throw JSONError(.invalidUTF8, at: offset) }
        return hasEscapes ? try unescaped() : String(copying: text)
    }

    /// Appends what `string` would hold, as valid UTF-8; nothing when `string` would throw.
    @inline(__always)
    public func append(to target: inout [UInt8]) {
        guard !hasEscapes else { return appendUnescaped(to: &target) }
        // Safe: the buffers are used within the calls only, and there is room for as many bytes.
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress, unsafe locsearch_is_utf8(start, bytes.count) else { return }
            target.append(addingCapacity: bytes.count) { room in
                unsafe room.withUnsafeMutableBufferPointer { room, used in
                    unsafe (room.baseAddress.unsafelyUnwrapped + used).update(from: start, count: bytes.count)
                    used += bytes.count
                }
            }
        }
    }

    @inline(never)
    private func appendUnescaped(to target: inout [UInt8]) {
        if let text = try? string() { target.append(contentsOf: text.utf8) }
    }

    /// The reader has checked each escape's shape; what is left to refuse is a surrogate without its other half.
    private func unescaped() throws(JSONError) -> String {
        var units: [UInt8] = []
        units.reserveCapacity(bytes.count)  // an escape is never shorter than what it stands for
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            guard byte == UInt8(ascii: "\\") else {
                units.append(byte)
                index += 1
                continue
            }
            let escaped = bytes[index + 1]
            index += 2
            if escaped == UInt8(ascii: "u") {
                units.append(contentsOf: UTF8.encode(try scalar(at: &index)) ?? UTF8.encodedReplacementCharacter)
            } else {
                units.append(Self.character(for: escaped))
            }
        }
        return String(decoding: units, as: UTF8.self)
    }

    /// - Parameter index: of the first hexadecimal digit; moved behind the last.
    private func scalar(at index: inout Int) throws(JSONError) -> Unicode.Scalar {
        let first = codeUnit(at: index)
        index += 4
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"),
            bytes[index + 1] == UInt8(ascii: "u")
        else { throw JSONError(.loneSurrogate, at: offset) }
        let second = codeUnit(at: index + 2)
        guard UTF16.isTrailSurrogate(second) else { throw JSONError(.loneSurrogate, at: offset) }
        index += 6
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private func codeUnit(at index: Int) -> UInt16 {
        (index..<index + 4).reduce(0) { $0 << 4 | UInt16(JSONBytes.hexadecimalValue(of: bytes[$1]) ?? 0) }
    }

    private static func character(for escaped: UInt8) -> UInt8 {
        switch escaped {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: escaped  // quote, backslash, slash stand for themselves
        }
    }
}
