/// A key or a string value where it stands in the input, escapes and all: compared without making a `String`.
/// Lives no longer than the bytes it was read from.
package struct JSONText: ~Escapable {
    /// What stands between the quotes.
    @usableFromInline let bytes: Span<UInt8>
    @usableFromInline let hasEscapes: Bool
    /// Of the first byte behind the opening quote.
    let offset: Int

    @_lifetime(copy bytes)
    @inline(__always)
    init(_ bytes: Span<UInt8>, hasEscapes: Bool, offset: Int) {
        self.bytes = bytes
        self.hasEscapes = hasEscapes
        self.offset = offset
    }

    package var isEmpty: Bool { bytes.isEmpty }

    /// `switch key { case "id": ... }`.
    @inlinable
    @inline(__always)
    package static func ~= (name: StaticString, text: borrowing JSONText) -> Bool {
        // Lengths differ for most keys; an escaped key is the exception and goes the slow way.
        if text.bytes.count == name.utf8CodeUnitCount, !text.hasEscapes { return text.equalsUnescaped(name) }
        return text.hasEscapes && text.equalsEscaped(name)
    }

    @inlinable
    @inline(__always)
    func equalsUnescaped(_ name: StaticString) -> Bool {
        // Safe: the caller compared the lengths, so `index` is within both.
        let start = unsafe name.utf8Start
        for index in 0..<bytes.count where unsafe bytes[unchecked: index] != start[index] { return false }
        return true
    }

    @usableFromInline
    func equalsEscaped(_ name: StaticString) -> Bool {
        guard let text = try? string() else { return false }
        return text == name.description
    }

    /// - Throws: `invalidUTF8`, `loneSurrogate`.
    package func string() throws(JSONError) -> String {
        // Safe: the buffer is used within the call only. Escapes are ASCII, so raw validity is the text's validity.
        let copy = unsafe bytes.withUnsafeBufferPointer { unsafe String(validating: $0, as: UTF8.self) }
        guard let copy else { throw JSONError(.invalidUTF8, at: offset) }
        return hasEscapes ? try unescaped() : copy
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
        (index..<index + 4).reduce(0) { $0 << 4 | UInt16(JSONReader.hexadecimalValue(of: bytes[$1]) ?? 0) }
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
