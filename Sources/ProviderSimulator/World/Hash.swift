/// The output function of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
@inline(__always)
func mixed(_ value: UInt64) -> UInt64 {
    var z = value &+ 0x9E37_79B9_7F4A_7C15
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
}

/// Numbers that follow from one seed: the same in every run.
struct HashStream: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    @inline(__always)
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return mixed(state)
    }

    /// 0..<bound; `bound` is small, so the bias does not matter.
    @inline(__always)
    mutating func next(below bound: Int) -> Int { Int(truncatingIfNeeded: next() >> 33) % bound }

    /// 0..<1
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func percent(_ share: Int) -> Bool { next(below: 100) < share }

    mutating func pick<Element>(_ list: [Element]) -> Element { list[next(below: list.count)] }
}

/// FNV-1a, 64 bits: tells requests apart, keeps no secret.
struct Fingerprint {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    @inline(__always)
    mutating func combine(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

    mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { combine(byte) }
        combine(0xFF)  // no UTF-8 byte: keeps "ab","c" apart from "a","bc"
    }
}
