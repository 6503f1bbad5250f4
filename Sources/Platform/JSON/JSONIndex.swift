internal import CScan

/// The positions at which texts of an input may end, see `locsearch_index`. Most of the input is inside texts. A reader
/// that jumps from one special byte (a quote, a backslash or a control character) to the next reads few other bytes.
struct JSONIndex {
    private var index = locsearch_index()

    /// Returns the index of the first special byte from `start` on; `input.count` or more if there is none.
    /// - Parameter start: Not negative.
    @inline(__always)
    mutating func special(from start: Int, in input: Span<UInt8>) -> Int {
        // Safe: the call reads only the span's bytes.
        unsafe input.withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return start }
            return unsafe locsearch_special(&index, first, start, bytes.count)
        }
    }

    /// Follows a layout's steps from `start`, see `locsearch_walk`.
    /// - Returns: The index after the object; `nil` if the object has another layout.
    mutating func walk(
        from start: Int, along steps: [locsearch_step], in input: Span<UInt8>, fields: inout [locsearch_field]
    ) -> Int? {
        // Safe: the call receives the numbers of bytes and steps, and a step's field is an index of `fields`.
        let end = unsafe input.withUnsafeBufferPointer { bytes in
            unsafe steps.withUnsafeBufferPointer { steps in
                unsafe fields.withUnsafeMutableBufferPointer { fields in
                    guard let first = bytes.baseAddress, let step = steps.baseAddress, let field = fields.baseAddress
                    else { return -1 }
                    return unsafe locsearch_walk(&index, first, start, bytes.count, step, steps.count, field)
                }
            }
        }
        return end < 0 ? nil : end
    }
}
