import LibC

extension UnsafeRawBufferPointer {
    /// True when both hold the same bytes. `elementsEqual` goes by way of iterators, which take thirty instructions a byte.
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, count) == 0
    }
}
