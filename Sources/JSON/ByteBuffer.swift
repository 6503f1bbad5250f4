internal import CScan

/// Bytes that are written one after another. The buffer grows by doubling and keeps its memory from one text to the next.
///
/// It is safe to use, because every write first makes room with `reserve`, and nothing else touches the memory.
@safe struct ByteBuffer: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        unsafe start = .allocate(capacity: self.capacity)
    }

    deinit { unsafe start.deallocate() }

    /// The bytes that were written, valid until the next write.
    var span: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let bytes = unsafe Span(_unsafeStart: start, count: count)
            return unsafe _overrideLifetime(bytes, borrowing: self)
        }
    }

    /// A copy of the bytes that were written, of exactly that size.
    var array: [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    mutating func removeAll() { count = 0 }

    /// Makes room for `more` bytes.
    @inline(__always)
    mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(by: more) }
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
        count += 1
    }

    /// Appends a text.
    /// - Parameter text: has at least two characters.
    @inline(__always)
    mutating func append(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        reserve(length)
        // A StaticString of one character may have no pointer and would trap here.
        unsafe (start + count).update(from: text.utf8Start, count: length)
        count += length
    }

    /// Appends `"name":`, behind a comma if `comma` is true. Names are short and many, so there is one check of room for all
    /// of it.
    mutating func appendKey(_ name: StaticString, comma: Bool) {
        let length = name.utf8CodeUnitCount
        reserve(length + 4)
        var end = unsafe start + count

        if comma {
            unsafe end.pointee = UInt8(ascii: ",")
            unsafe end += 1
        }
        unsafe end.pointee = UInt8(ascii: "\"")
        unsafe end += 1
        unsafe end.update(from: name.utf8Start, count: length)
        unsafe end += length
        unsafe end.pointee = UInt8(ascii: "\"")
        unsafe (end + 1).pointee = UInt8(ascii: ":")
        unsafe count = end + 2 - start
    }

    /// Appends all bytes of a span.
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
    /// - Returns: the index of that byte, `text.count` when there is none.
    mutating func appendClean(_ text: UnsafeBufferPointer<UInt8>, from first: Int) -> Int {
        guard let from = text.baseAddress, first >= 0, first < text.count else { return text.count }
        let length = text.count - first
        reserve(length)
        // Safe: the call reads the text from `first` on, and writes no more than was reserved.
        let copied = unsafe locsearch_copy_clean(start + count, from + first, length)
        count += copied
        return first + copied
    }

    /// Does the same from the beginning of the text, behind a quote. There is room for the closing quote, too.
    @inline(__always)
    mutating func appendQuoted(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        reserve(text.count + 2)
        unsafe start[count] = UInt8(ascii: "\"")
        count += 1
        guard let from = text.baseAddress else { return 0 }
        // Safe: the call reads the text, and writes no more than was reserved.
        let copied = unsafe locsearch_copy_clean(start + count, from, text.count)
        count += copied
        return copied
    }

    /// Appends a number in decimal digits, with zeros in front up to `width` digits, at most 20.
    @inline(__always)
    mutating func appendDigits(_ number: UInt64, width: Int = 1) {
        reserve(20)  // UInt64.max has 20 digits
        var (length, limit) = (1, 10 as UInt64)
        while length < 20, limit <= number {
            length &+= 1
            limit &*= 10  // wraps for the 20th digit only, after which it is not read any more
        }
        if length < width { length = width }

        let target = unsafe start + count
        var (rest, place) = (number, length)
        while place > 0 {
            place &-= 1
            let quotient = rest / 10
            unsafe target[place] = UInt8(truncatingIfNeeded: rest &- quotient &* 10 &+ 0x30)
            rest = quotient
        }
        count &+= length
    }

    /// Removes the last bytes while they are `byte`.
    mutating func trim(_ byte: UInt8) {
        var end = count
        while end > 0, unsafe start[end &- 1] == byte { end &-= 1 }
        count = end
    }
}
