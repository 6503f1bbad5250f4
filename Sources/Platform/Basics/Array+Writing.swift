extension [UInt8] {
    /// Makes an array of what `write` appends.
    ///
    /// `init(capacity:initializingWith:)` of the standard library does the same by way of a function that is not specialised:
    /// it looks up the type of the array's memory, which takes 400 instructions.
    /// - Parameter count: the most bytes that `write` may append.
    @inlinable
    public init(atMost count: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
        self = []
        append(addingCapacity: count, initializingWith: write)
    }
}
