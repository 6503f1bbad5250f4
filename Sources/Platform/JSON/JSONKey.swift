/// A short member name in JSON, `"name":`, in three words. The compiler computes them from a literal, so that writing a
/// key only stores three constants.
@usableFromInline struct JSONKey: Sendable {
    /// The size of the words in bytes.
    @usableFromInline static let size = 24

    /// The bytes; the first one is the lowest of the first word. Bytes after the key are zero.
    @usableFromInline let words: (UInt64, UInt64, UInt64)
    /// The number of bytes.
    @usableFromInline let count: Int

    /// Returns whether the key of this name fits.
    @_transparent
    @usableFromInline
    static func fits(_ name: StaticString) -> Bool { name.utf8CodeUnitCount <= 21 }

    /// - Parameter name: A name that fits, and needs no escapes.
    @_transparent
    @usableFromInline
    init(_ name: StaticString) {
        words = (Self.word(of: name, from: 0), Self.word(of: name, from: 8), Self.word(of: name, from: 16))
        count = name.utf8CodeUnitCount + 3
    }

    @_transparent
    @usableFromInline
    static func word(of name: StaticString, from first: Int) -> UInt64 {
        byte(of: name, at: first) | byte(of: name, at: first + 1) &<< 8 | byte(of: name, at: first + 2) &<< 16
            | byte(of: name, at: first + 3) &<< 24 | byte(of: name, at: first + 4) &<< 32
            | byte(of: name, at: first + 5) &<< 40 | byte(of: name, at: first + 6) &<< 48
            | byte(of: name, at: first + 7) &<< 56
    }

    @_transparent
    @usableFromInline
    static func byte(of name: StaticString, at index: Int) -> UInt64 {
        let count = name.utf8CodeUnitCount
        if index == 0 || index == count + 1 { return UInt64(UInt8(ascii: "\"")) }
        if index == count + 2 { return UInt64(UInt8(ascii: ":")) }
        // Safe: the index is within the name.
        return index <= count ? unsafe UInt64(name.utf8Start[index - 1]) : 0
    }
}
