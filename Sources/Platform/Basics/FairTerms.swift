/// How flows of requests divide what is scarce.
public struct FairTerms: Sendable, Hashable {
    /// `worker.batchFloor`: the part that batch requests get in any case while some wait, 0 to 1.
    public var batchFloor = 0.05
    /// `worker.fairWeights`: how many turns a tenant has in each round. 1 to 100; a tenant that is missing has 1.
    public var weights: [String: Int] = [:]

    public init() {}

    public func weight(of tenant: String) -> Double { Double(min(100, max(1, weights[tenant] ?? 1))) }
}
