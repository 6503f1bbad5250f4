import LibC

extension UnsafeRawBufferPointer {
    /// Returns whether both contain the same bytes. `elementsEqual` uses iterators, which need thirty instructions per
    /// byte.
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, count) == 0
    }
}
