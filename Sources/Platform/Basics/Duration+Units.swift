extension Duration {
    /// The duration in attoseconds; `nil` if that exceeds one machine word, which is the case from 9.2 s on.
    ///
    /// Nearly all measured durations are shorter, and dividing one word takes five instructions. `components` divides
    /// two words, which takes 190.
    @inlinable
    var attosecondsInOneWord: Int64? { Int64(exactly: attoseconds) }

    /// Returns the duration in whole milliseconds, limited to the range of `Int`.
    /// - Parameter roundedUp: True if the result must not be less than the duration, as for a time to wait; false
    ///   rounds towards 0.
    @inlinable
    public func milliseconds(roundedUp: Bool) -> Int {
        if let word = attosecondsInOneWord {
            let (whole, rest) = word.quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
            return Int(whole) + (roundedUp && rest > 0 ? 1 : 0)
        }

        let (seconds, attoseconds) = components
        let (whole, overflow) = Int(clamping: seconds).multipliedReportingOverflow(by: 1000)
        guard !overflow else { return seconds < 0 ? .min : .max }

        let (part, rest) = Int(attoseconds).quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
        let (sum, isTooLong) = whole.addingReportingOverflow(part + (roundedUp && rest > 0 ? 1 : 0))
        return isTooLong ? .max : sum
    }

    /// The duration in whole nanoseconds, rounded towards 0 and limited to the range of `Int64` (292 years).
    @inlinable
    public var wholeNanoseconds: Int64 {
        if let word = attosecondsInOneWord { return word / 1_000_000_000 }
        // 10^9 is 2^9 times 5^9, so durations of up to 78 minutes still need only one word. The shift would round a
        // negative one.
        if attoseconds > 0, let word = Int64(exactly: attoseconds >> 9) { return word / 1_953_125 }

        return Int64(clamping: attoseconds / 1_000_000_000)
    }

    /// The duration in seconds, exact to about 16 digits, for arithmetic with rates and shares.
    @inlinable
    public var inSeconds: Double {
        if let word = attosecondsInOneWord { return Double(word) * 1e-18 }

        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    /// Returns a duration of seconds, rounded up to whole nanoseconds so that a timer set with it never fires early. The result is
    /// between 0 and 100 years.
    package static func seconds(roundedUp seconds: Double) -> Duration {
        let limit = 3_155_760_000.0
        let nanoseconds = (min(max(seconds, 0), limit) * 1e9).rounded(.up)
        return .nanoseconds(Int64(saturating: nanoseconds))
    }
}
