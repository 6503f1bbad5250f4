/// Returns a number in which every bit depends on every bit of `value`. It is the output function of SplitMix64
/// (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
@inline(__always)
func mixed(_ value: UInt64) -> UInt64 {
    var z = value &+ 0x9E37_79B9_7F4A_7C15
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
}

/// A random number generator with a seed, so that its numbers are the same in every run.
struct HashStream: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    @inline(__always)
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return mixed(state)
    }

    /// Returns a number in 0..<bound. The bias is negligible because `bound` is small.
    @inline(__always)
    mutating func next(below bound: Int) -> Int { Int(truncatingIfNeeded: next() >> 33) % bound }

    /// Returns a number in 0..<1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Returns `true` with this probability in percent.
    mutating func percent(_ share: Int) -> Bool { next(below: 100) < share }

    /// Returns a random element of a non-empty list.
    mutating func pick<Element>(_ list: [Element]) -> Element { list[next(below: list.count)] }
}

/// A fingerprint (FNV-1a, 64 bits) that distinguishes requests. It is not cryptographic and can be inverted.
struct Fingerprint {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    @inline(__always)
    mutating func combine(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

    mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { combine(byte) }
        combine(0xFF)  // never occurs in UTF-8, so "ab", "c" and "a", "bc" differ
    }
}
