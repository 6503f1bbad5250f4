/// Arithmetic and conversions for numbers from outside the process: records, responses, settings, command lines.
///
/// Swift's own `+`, `-`, `*` and `Int(_:)` trap on overflow, so the writer of a number could crash the process. These
/// functions return the nearest value that fits. `tools/check-numbers` finds code that should use them.
extension FixedWidthInteger {
    /// Returns the sum, or the nearest value that fits.
    @inlinable
    public func saturatingAdding(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    /// Returns the difference, or the nearest value that fits.
    @inlinable
    public func saturatingSubtracting(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        guard overflow else { return difference }
        return self < other ? .min : .max
    }

    /// Returns the product, or the nearest value that fits.
    @inlinable
    public func saturatingMultiplied(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        guard overflow else { return product }
        return (self < 0) == (other < 0) ? .max : .min
    }

    /// Makes an integer by rounding towards zero, or the nearest value that fits; 0 for NaN.
    @inlinable
    public init(saturating value: Double) {
        let whole = value.rounded(.towardZero)
        // Converts through Int64, because the standard library's generic conversion works bit by bit.
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
    /// Makes a duration from seconds, limited to 292 years in both directions, which is the range of Int64 in
    /// nanoseconds. NaN gives zero. The result can be added to any instant of a clock.
    @inlinable
    public static func seconds(saturating seconds: Double) -> Duration {
        let longest = 9_223_372_036.0
        return seconds.isNaN ? .zero : .seconds(min(max(seconds, -longest), longest))
    }
}
