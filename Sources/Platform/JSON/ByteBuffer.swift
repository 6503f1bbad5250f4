internal import CScan

/// A growing byte buffer. It grows by doubling, and keeps its memory from one text to the next.
///
/// It is safe to use, because every write first makes room with `reserve`, and only this type accesses the memory.
@safe struct ByteBuffer: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        unsafe start = .allocate(capacity: self.capacity)
    }

    deinit { unsafe start.deallocate() }

    /// The written bytes, valid until the next write.
    var span: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let bytes = unsafe Span(_unsafeStart: start, count: count)
            return unsafe _overrideLifetime(bytes, borrowing: self)
        }
    }

    /// A copy of the written bytes, of exactly that size.
    var array: [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    mutating func removeAll() { count = 0 }

    /// Makes room for `more` bytes.
    @inline(__always)
    mutating func reserve(_ more: Int) {
        if capacity &- count < more { grow(by: more) }
    }

    @inline(never)
    private mutating func grow(by more: Int) {
        let larger = max(capacity * 2, count + more)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        unsafe moved.moveInitialize(from: start, count: count)
        unsafe start.deallocate()
        unsafe start = moved
        capacity = larger
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        unsafe start[count] = byte
        count &+= 1
    }

    /// Appends a text.
    /// - Parameter text: At least two characters.
    @inline(__always)
    mutating func append(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        reserve(length)
        // A StaticString of one character may have no pointer and would trap here.
        unsafe (start + count).update(from: text.utf8Start, count: length)
        count += length
    }

    /// Appends `byte`, after a comma if `comma` is true.
    @inline(__always)
    mutating func append(_ byte: UInt8, comma: Bool) {
        reserve(2)
        putComma(comma)
        unsafe start[count] = byte
        count &+= 1
    }

    /// Appends a key, after a comma if `comma` is true.
    @inline(__always)
    mutating func append(_ key: JSONKey, comma: Bool) {
        // Nearly always there is room. The slow path is a tail call, so that no registers need saving before it.
        guard capacity &- count > JSONKey.size else { return growAndAppend(key, comma: comma) }

        putComma(comma)
        // Safe: there is room for all three words, even for bytes that are not part of the key.
        let target = unsafe UnsafeMutableRawPointer(start + count)
        unsafe target.storeBytes(of: key.words.0.littleEndian, as: UInt64.self)
        unsafe target.storeBytes(of: key.words.1.littleEndian, toByteOffset: 8, as: UInt64.self)
        unsafe target.storeBytes(of: key.words.2.littleEndian, toByteOffset: 16, as: UInt64.self)
        count &+= key.count
    }

    @inline(never)
    private mutating func growAndAppend(_ key: JSONKey, comma: Bool) {
        grow(by: 1 + JSONKey.size)
        append(key, comma: comma)
    }

    /// Writes a comma and counts it only if `comma` is true. There is room for it.
    @inline(__always)
    private mutating func putComma(_ comma: Bool) {
        unsafe start[count] = UInt8(ascii: ",")
        count &+= comma ? 1 : 0
    }

    mutating func append(_ bytes: Span<UInt8>) {
        reserve(bytes.count)
        let target = unsafe start + count
        unsafe bytes.withUnsafeBufferPointer { source in
            guard let from = source.baseAddress else { return }
            unsafe target.update(from: from, count: source.count)
        }
        count += bytes.count
    }

    /// Appends text up to the first byte that must be escaped (RFC 8259, section 7): a control character, a quote or a
    /// backslash.
    /// - Returns: The index of that byte, or `text.count` if there is none.
    mutating func appendClean(_ text: UnsafeBufferPointer<UInt8>, from first: Int) -> Int {
        guard let from = text.baseAddress, first >= 0, first < text.count else { return text.count }
        let length = text.count - first
        reserve(length)
        // Safe: the call reads the text from `first` on, and writes at most the reserved bytes.
        let copied = unsafe locsearch_copy_clean(start + count, from + first, length)
        count += copied
        return first + copied
    }

    /// Appends a text between quotes if it needs no escapes; otherwise a quote and its beginning. A comma comes first
    /// if `comma` is true.
    /// - Returns: The index of the first byte that must be escaped, or `text.count` if there is none.
    @inline(__always)
    mutating func appendQuoted(_ text: UnsafeBufferPointer<UInt8>, comma: Bool) -> Int {
        reserve(text.count &+ 3)
        putComma(comma)
        unsafe start[count] = UInt8(ascii: "\"")
        count &+= 1

        var copied = 0
        if let from = text.baseAddress {
            // Safe: the call reads the text, and writes at most the reserved bytes.
            copied = unsafe locsearch_copy_clean(start + count, from, text.count)
            count &+= copied
        }
        if copied == text.count {
            unsafe start[count] = UInt8(ascii: "\"")
            count &+= 1
        }
        return copied
    }

    // MARK: Digits

    @inline(__always)
    mutating func appendDigits(_ number: UInt64) {
        guard number < 100_000_000 else { return appendManyDigits(number) }
        let digits = DecimalDigits(number)
        // 0 has one digit.
        let zeros = min(digits.leadingZeros, 7)
        put(digits.text &>> UInt64(8 &* zeros), count: 8 &- zeros)
    }

    @inline(never)
    private mutating func appendManyDigits(_ number: UInt64) {
        let (upper, lower) = number.quotientAndRemainder(dividingBy: 100_000_000)
        appendDigits(upper)
        put(DecimalDigits(lower).text, count: 8)
    }

    /// Appends a decimal point and ten decimals, without trailing zeros.
    /// - Parameter decimals: More than 0, with at most ten digits.
    @inline(__always)
    mutating func appendDecimals(_ decimals: UInt64) {
        append(UInt8(ascii: "."))
        let (upper, lower) = decimals.quotientAndRemainder(dividingBy: 100)
        let digits = DecimalDigits(upper)
        put(digits.text, count: lower == 0 ? 8 &- digits.trailingZeros : 8)
        if lower == 0 { return }

        let rest = DecimalDigits(lower &* 1_000_000)
        put(rest.text, count: 8 &- rest.trailingZeros)
    }

    /// Appends the lowest bytes of a word.
    /// - Parameter length: At most 8.
    @inline(__always)
    private mutating func put(_ word: UInt64, count length: Int) {
        reserve(8)
        // Safe: there is room for the whole word.
        unsafe UnsafeMutableRawPointer(start + count).storeBytes(of: word.littleEndian, as: UInt64.self)
        count &+= length
    }
}
