internal import CScan

/// A key or a string value in the input, with unresolved escapes. It can be compared without creating a `String`. Its
/// lifetime is limited to that of the input bytes.
public struct JSONText: ~Escapable {
    /// The bytes between the quotes.
    let bytes: Span<UInt8>
    /// The number of bytes.
    @usableFromInline let count: Int
    /// The first eight bytes as a number, of which the first byte is the lowest; missing bytes are zero.
    @usableFromInline let head: UInt64
    @usableFromInline let hasEscapes: Bool
    /// The offset of the first byte after the opening quote.
    let offset: Int

    @_lifetime(copy bytes)
    @inline(__always)
    init(_ bytes: Span<UInt8>, head: UInt64, hasEscapes: Bool, offset: Int) {
        self.bytes = bytes
        count = bytes.count
        (self.head, self.hasEscapes, self.offset) = (head, hasEscapes, offset)
    }

    /// Makes a text that is not part of JSON, to compare it with many names in a switch.
    @_lifetime(copy bytes)
    public init(plain bytes: Span<UInt8>) {
        self.init(bytes, head: JSONBytes(bytes).head(0, length: bytes.count), hasEscapes: false, offset: 0)
    }

    /// True for `""`.
    public var isEmpty: Bool { count == 0 }

    /// Compares a text with a name, as in `switch key { case "id": ... }`.
    ///
    /// Transparent, so that it is compiled into the switch in any module. A name is then one or two constants, which
    /// are compared with registers.
    @_transparent
    public static func ~= (name: StaticString, text: borrowing JSONText) -> Bool {
        if text.hasEscapes { return text.equalsEscaped(name) }
        guard text.count == name.utf8CodeUnitCount, text.head == JSONText.head(of: name) else { return false }
        return name.utf8CodeUnitCount <= 8 || text.equalsBehindHead(name)
    }

    /// Returns the `head` of a text equal to `name`.
    @inlinable
    @inline(__always)
    static func head(of name: StaticString) -> UInt64 {
        // Safe: no index is past the name's end. The compiler folds all of this into a constant.
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
        // Safe: the text and the name have the same number of bytes, more than eight, as checked by the caller.
        let start = unsafe UnsafeRawPointer(name.utf8Start)
        let tail = unsafe start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
        guard unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: count &- 8, as: UInt64.self) == tail
        else { return false }

        var index = 8
        while index < count &- 8 {
            let byte = unsafe start.load(fromByteOffset: index, as: UInt8.self)
            guard unsafe bytes[unchecked: index] == byte else { return false }
            index &+= 1
        }
        return true
    }

    @usableFromInline
    func equalsEscaped(_ name: StaticString) -> Bool {
        guard let text = try? string() else { return false }
        return text == name.description
    }

    /// False if `string()` would throw for the text.
    public var isValid: Bool { (try? string()) != nil }

    /// Makes a `String` of the text, with its escapes resolved.
    /// - Throws: `invalidUTF8` or `loneSurrogate`.
    public func string() throws(JSONError) -> String {
        // Escapes are ASCII, so the text is valid UTF-8 exactly if its bytes are.
        guard bytes.isUTF8 else { throw JSONError(.invalidUTF8, at: offset) }
        // Safe: the bytes are UTF-8.
        return hasEscapes ? try unescaped() : String(copying: unsafe UTF8Span(unchecked: bytes))
    }

    /// Makes a `String` of any text. U+FFFD replaces bytes that are not UTF-8, and half a surrogate pair.
    public func repairedString() -> String { (try? string()) ?? (try? unescaped(repairing: true)) ?? "" }

    /// Returns a JSON text in which U+FFFD replaces the control characters in strings, which JSON forbids.
    public static func replacingControlCharacters(in json: [UInt8]) -> [UInt8] {
        var (result, isInText, isEscaped) = ([UInt8](), false, false)
        result.reserveCapacity(json.count)
        for byte in json {
            if isInText, byte < 0x20 { result += [0xEF, 0xBF, 0xBD] } else { result.append(byte) }
            if byte == UInt8(ascii: "\""), !isEscaped { isInText.toggle() }
            isEscaped = isInText && byte == UInt8(ascii: "\\") && !isEscaped
        }
        return result
    }

    /// Resolves the escapes. The reader has checked their syntax, so this throws only for half a surrogate pair.
    /// - Parameter repairing: True to replace it by U+FFFD instead.
    private func unescaped(repairing: Bool = false) throws(JSONError) -> String {
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
                do throws(JSONError) {
                    units.append(contentsOf: UTF8.encode(try scalar(at: &index)) ?? UTF8.encodedReplacementCharacter)
                } catch {
                    guard repairing else { throw error }
                    units.append(contentsOf: UTF8.encodedReplacementCharacter)
                }
            } else {
                units.append(Self.character(for: escaped))
            }
        }

        return String(decoding: units, as: UTF8.self)
    }

    /// Decodes a character from one or two `\u` escapes.
    /// - Parameter index: The index of the first hexadecimal digit. It is moved past the last one.
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

extension JSONBytes {
    /// Returns the text in a scanned range.
    @_lifetime(copy self)
    @inline(__always)
    func text(_ range: TextRange) -> JSONText {
        JSONText(
            bytes.extracting(range.start..<range.end), head: head(range.start, length: range.end &- range.start),
            hasEscapes: range.hasEscapes, offset: range.start)
    }

    /// Appends the UTF-8 of the string in a scanned range, repaired if the text is invalid.
    @inline(__always)
    func append(_ range: TextRange, to target: inout [UInt8]) {
        if range.hasEscapes || !appendUTF8(range, to: &target) { appendRepaired(range, to: &target) }
    }

    /// Appends the bytes of a range if they are UTF-8.
    @inline(__always)
    private func appendUTF8(_ range: TextRange, to target: inout [UInt8]) -> Bool {
        // Safe: the calls read the input from the text on. The text is followed by a quote, and there is room for its
        // bytes.
        unsafe bytes.withUnsafeBufferPointer { bytes in
            let text = unsafe UnsafeBufferPointer(rebasing: bytes[range.start..<range.end])
            guard let start = text.baseAddress,
                unsafe locsearch_is_utf8(start, text.count, bytes.count &- range.start)
            else { return false }
            // This takes fewer instructions than `append(contentsOf:)`.
            target.append(addingCapacity: text.count) { room in
                unsafe room.withUnsafeMutableBufferPointer { room, used in
                    unsafe (room.baseAddress.unsafelyUnwrapped + used).update(from: start, count: text.count)
                    used += text.count
                }
            }
            return true
        }
    }

    @inline(never)
    private func appendRepaired(_ range: TextRange, to target: inout [UInt8]) {
        target.append(contentsOf: text(range).repairedString().utf8)
    }
}
