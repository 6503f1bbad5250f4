/// Bytes written one after another; grows by doubling and keeps its memory from one text to the next.
///
/// Safe to use: every write first makes sure of its room with `reserve`, and nothing else touches the memory.
@safe struct ByteBuffer: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        unsafe start = .allocate(capacity: self.capacity)
    }

    deinit { unsafe start.deallocate() }

    /// Valid until the next write.
    var span: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let bytes = unsafe Span(_unsafeStart: start, count: count)
            return unsafe _overrideLifetime(bytes, borrowing: self)
        }
    }

    /// A copy, exactly as large as what was written.
    var array: [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    mutating func removeAll() { count = 0 }

    /// Makes room for so many bytes more.
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

    @inline(__always)
    mutating func append(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        reserve(length)
        // Every caller passes text of more than one character, which has a pointer representation.
        unsafe (start + count).update(from: text.utf8Start, count: length)
        count += length
    }

    /// `range` must lie within `bytes`.
    @inline(__always)
    mutating func append(_ bytes: Span<UInt8>, in range: Range<Int>) {
        precondition(range.upperBound <= bytes.count && range.lowerBound >= 0)
        reserve(range.count)
        let target = unsafe start + count
        unsafe bytes.withUnsafeBufferPointer { source in
            guard let from = source.baseAddress else { return }
            unsafe target.update(from: from + range.lowerBound, count: range.count)
        }
        count += range.count
    }

    /// Decimal digits, at least `width` of them with zeros in front.
    @inline(__always)
    mutating func appendDigits(_ number: UInt64, width: Int = 1) {
        reserve(20)  // UInt64.max has 20 digits
        var length = 1
        var limit: UInt64 = 10
        while number >= limit, length < 20 {
            length += 1
            let (next, overflow) = limit.multipliedReportingOverflow(by: 10)
            if overflow { break }
            limit = next
        }
        length = max(length, min(width, 20))
        var rest = number
        for offset in stride(from: length - 1, through: 0, by: -1) {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            unsafe start[count + offset] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
            rest = quotient
        }
        count += length
    }

    /// Takes back the last bytes while they are `byte`.
    mutating func trim(_ byte: UInt8) {
        while count > 0, unsafe start[count - 1] == byte { count -= 1 }
    }
}
