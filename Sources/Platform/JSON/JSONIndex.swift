internal import CScan

/// The places where the texts of an input may end, see `locsearch_index`. Most of the input lies within texts, so a
/// reader that jumps from one special byte to the next (a quote, a backslash or a control character) looks at few others.
struct JSONIndex {
    private var index = locsearch_index()

    /// Returns the place of the first special byte from `start` on. It is `input.count` or more when there is none.
    /// - Parameter start: is not negative.
    @inline(__always)
    mutating func special(from start: Int, in input: Span<UInt8>) -> Int {
        // Safe: the call reads the span's bytes and nothing else.
        unsafe input.withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return start }
            return unsafe locsearch_special(&index, first, start, bytes.count)
        }
    }

    /// Follows a layout's steps from `start`, see `locsearch_walk`.
    /// - Returns: the place behind the object; `nil` when it is written in another way.
    mutating func walk(
        from start: Int, along steps: [locsearch_step], in input: Span<UInt8>, fields: inout [locsearch_field]
    ) -> Int? {
        // Safe: the call is given the number of bytes and steps, and a step's field is one of `fields`.
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
