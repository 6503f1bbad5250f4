/// Arithmetic and conversions for numbers that come from outside the process: records, answers, settings, command lines.
///
/// Swift's own `+`, `-`, `*` and `Int(_:)` end the process when the result does not fit, so the writer of the number would
/// decide how long the process lives. These functions return the nearest value that fits. `tools/check-numbers` finds the
/// places where they are missing.
extension FixedWidthInteger {
    /// Returns the sum, or the nearest number that fits.
    @inlinable
    public func saturatingAdding(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    /// Returns the difference, or the nearest number that fits.
    @inlinable
    public func saturatingSubtracting(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        guard overflow else { return difference }
        return self < other ? .min : .max
    }

    /// Returns the product, or the nearest number that fits.
    @inlinable
    public func saturatingMultiplied(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        guard overflow else { return product }
        return (self < 0) == (other < 0) ? .max : .min
    }

    /// Makes the whole number that is left when the fraction is cut off, or the nearest number that fits; 0 of NaN.
    @inlinable
    public init(saturating value: Double) {
        let whole = value.rounded(.towardZero)
        // By way of Int64, because the standard library's conversion to any type goes bit by bit.
        if whole.magnitude < 0x1p63 {
            self = Self(clamping: Int64(whole))
        } else if let exact = Self(exactly: whole) {
            self = exact
        } else if value.isNaN {
            self = 0
        } else {
            self = value < 0 ? .min : .max
        }
    }
}

extension Duration {
    /// Makes a duration of seconds, 292 years at most in both directions, as many as Int64 counts in nanoseconds; zero of
    /// NaN. So a duration made of any number can be added to any instant of a clock.
    @inlinable
    public static func seconds(saturating seconds: Double) -> Duration {
        let longest = 9_223_372_036.0
        return seconds.isNaN ? .zero : .seconds(min(max(seconds, -longest), longest))
    }
}
