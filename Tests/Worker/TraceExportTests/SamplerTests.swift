import Testing

@testable import TraceExport

struct SamplerTests {
    @Test(arguments: [(0.0, 0), (0.25, 250), (1.0, 1000)])
    func `Ratio samples that part of evenly spread i ds`(ratio: Double, expected: Int) {
        let sampler = Sampler(ratio: ratio)
        let step = (UInt64.max >> 1) / 1000
        let sampled = (0..<1000).count { sampler.samples(traceID: UInt64($0) * step) }
        #expect(abs(sampled - expected) <= 1)
    }

    @Test func `Upper bit does not count`() {
        let sampler = Sampler(ratio: 0.5)
        #expect(sampler.samples(traceID: 1 << 63) == sampler.samples(traceID: 0))
    }
}
