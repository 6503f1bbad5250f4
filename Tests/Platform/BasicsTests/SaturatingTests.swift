import Testing

@testable import Basics

/// Arithmetic returns the nearest representable number for any operands.
struct SaturatingTests {
    static let extremes: [Int64] = [.min, .min + 1, -1000, -1, 0, 1, 1000, .max - 1, .max]

    @Test func `A result is exact or the nearest in range`() {
        for a in Self.extremes {
            for b in Self.extremes {
                let (wideA, wideB) = (Int128(a), Int128(b))
                #expect(a.saturatingAdding(b) == Int64(clamping: wideA + wideB), "\(a) + \(b)")
                #expect(a.saturatingSubtracting(b) == Int64(clamping: wideA - wideB), "\(a) - \(b)")
                #expect(a.saturatingMultiplied(by: b) == Int64(clamping: wideA * wideB), "\(a) * \(b)")
            }
        }
    }

    @Test func `Unsigned numbers end at zero`() {
        #expect((3 as UInt).saturatingSubtracting(5) == 0)
        #expect(UInt.max.saturatingAdding(1) == .max)
        #expect(UInt8(200).saturatingMultiplied(by: 2) == 255)
    }

    @Test(
        arguments: [
            (0, 0), (1.9, 1), (-1.9, -1), (1e300, .max), (-1e300, .min), (.infinity, .max), (-.infinity, .min),
            (.nan, 0), (0x1p63, .max), (-0x1p63, .min), (0x1p62, 1 << 62),
        ] as [(Double, Int)])
    func `Any double is converted to a whole number`(value: Double, expected: Int) {
        #expect(Int(saturating: value) == expected)
    }

    @Test func `Doubles are converted to small and unsigned numbers too`() {
        #expect(UInt8(saturating: 300) == 255)
        #expect(UInt8(saturating: -1) == 0)
        #expect(UInt8(saturating: -0.5) == 0)
        #expect(UInt8(saturating: 255.9) == 255)
    }

    @Test func `A duration of any number of seconds can be added to an instant`() {
        for seconds in [Double.nan, .infinity, -.infinity, 1e300, -1e300, 0, 1.5] {
            let later = Instant.now + .seconds(saturating: seconds)
            #expect(later + .seconds(saturating: seconds) == later + .seconds(saturating: seconds))
        }
        #expect(Duration.seconds(saturating: 1.5) == .milliseconds(1500))
        #expect(Duration.seconds(saturating: .nan) == .zero)
        #expect(Duration.seconds(saturating: 1e300).wholeNanoseconds > .max - 1_000_000_000)
    }

    @Test func `Any two times have a difference`() {
        let (first, last) = (WallTime(milliseconds: .min), WallTime(milliseconds: .max))
        #expect(last.duration(since: first) > .seconds(9998 * 365 * 86_400))
        #expect(first.duration(since: last) < .zero)
        #expect(WallTime(milliseconds: 1500).duration(since: WallTime(milliseconds: 250)) == .milliseconds(1250))
        #expect(WallTime.now() > WallTime(milliseconds: 1_700_000_000_000))
    }
}
