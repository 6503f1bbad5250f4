/// Decides which traces are recorded: those whose parent is, and of those that begin here a fixed part.
struct Sampler: Sendable {
    /// Ids below this are sampled, as OpenTelemetry's `TraceIdRatioBased` does it: all workers with one ratio agree.
    private let bound: UInt64

    /// - Parameter ratio: the part of the traces without a parent that is sampled, 0 to 1.
    init(ratio: Double) {
        let range = Double(UInt64(1) << 63)
        bound = UInt64(min(max(ratio, 0), 1) * range)
    }

    /// Returns whether a trace that begins here is sampled.
    /// - Parameter traceID: the lower half of its id, of which 63 bits count.
    func samples(traceID: UInt64) -> Bool { traceID & (.max >> 1) < bound }
}
