/// Returns a number in which every bit depends on every bit of `value`. It is the output function of SplitMix64 (Steele, Lea,
/// Flood: "Fast splittable pseudorandom number generators", 2014).
@inline(__always)
func mixed(_ value: UInt64) -> UInt64 {
    var z = value &+ 0x9E37_79B9_7F4A_7C15
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
}

/// Random numbers that follow from one seed, so that they are the same in every run.
struct HashStream: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    @inline(__always)
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return mixed(state)
    }

    /// Returns a number in 0..<bound. Its bias does not matter, because `bound` is small.
    @inline(__always)
    mutating func next(below bound: Int) -> Int { Int(truncatingIfNeeded: next() >> 33) % bound }

    /// Returns a number in 0..<1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Returns `true` in so many of a hundred cases.
    mutating func percent(_ share: Int) -> Bool { next(below: 100) < share }

    /// Returns one element of a list that is not empty.
    mutating func pick<Element>(_ list: [Element]) -> Element { list[next(below: list.count)] }
}

/// A fingerprint (FNV-1a, 64 bits) that tells requests apart. It is no protection: it can be undone.
struct Fingerprint {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    @inline(__always)
    mutating func combine(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

    mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { combine(byte) }
        combine(0xFF)  // occurs in no UTF-8, so that "ab", "c" and "a", "bc" differ
    }
}
