extension [UInt8] {
    /// Makes an array of the bytes that `write` appends.
    ///
    /// The standard library's `init(capacity:initializingWith:)` does the same with an unspecialized function that
    /// looks up the type of the array's memory, which takes 400 instructions.
    /// - Parameter count: The maximum number of bytes that `write` may append.
    @inlinable
    public init(atMost count: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
        self = []
        append(addingCapacity: count, initializingWith: write)
    }
}
