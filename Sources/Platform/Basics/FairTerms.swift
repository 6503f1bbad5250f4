/// How flows of requests share a limited resource.
public struct FairTerms: Sendable, Hashable {
    /// `worker.batchFloor`: the minimum fraction for batch requests while some of them wait, 0 to 1.
    public var batchFloor = 0.05
    /// `worker.fairWeights`: the weight of each tenant in a round. 1 to 100; a missing tenant has 1.
    public var weights: [String: Int] = [:]

    public init() {}

    public func weight(of tenant: String) -> Double { Double(min(100, max(1, weights[tenant] ?? 1))) }
}
