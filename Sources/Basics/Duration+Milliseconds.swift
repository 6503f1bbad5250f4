extension Duration {
    /// Returns the duration in whole milliseconds. What lies beyond `Int` is the nearest that does not.
    /// - Parameter roundedUp: true when nobody may be told less than the duration, such as a time to wait; false cuts off
    ///   what is left of the last millisecond, towards 0.
    @inlinable
    public func milliseconds(roundedUp: Bool) -> Int {
        let (seconds, attoseconds) = components
        let (whole, overflow) = Int(clamping: seconds).multipliedReportingOverflow(by: 1000)
        guard !overflow else { return seconds < 0 ? .min : .max }

        let (part, rest) = Int(attoseconds).quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
        let (sum, isTooLong) = whole.addingReportingOverflow(part + (roundedUp && rest > 0 ? 1 : 0))
        return isTooLong ? .max : sum
    }
}
