import Foundation

/// A small seeded generator (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014), so
/// that a failing random test can be repeated.
package struct SplitMix64: RandomNumberGenerator {
    package var state: UInt64
    package init(state: UInt64) { self.state = state }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns the number of inputs of a fuzz test. Set `LOCSEARCH_FUZZ_INPUTS` for more.
    package static func inputs(usually count: Int) -> Int {
        ProcessInfo.processInfo.environment["LOCSEARCH_FUZZ_INPUTS"].flatMap { Int($0) } ?? count
    }
}
