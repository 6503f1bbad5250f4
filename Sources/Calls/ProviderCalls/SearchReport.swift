public import Basics
public import LocationSearch

/// The result of a search: the answer or the failure, the provider that gave it, and the cost.
public struct SearchReport: Sendable, Hashable {
    @Boxed public var result: Result<ProviderAnswer, SearchError>
    public var provider: ProviderID?
    public var triedProviders: [ProviderID]
    public var upstream: Duration
    public var attempts: Int

    public init(
        result: Result<ProviderAnswer, SearchError>, provider: ProviderID? = nil, triedProviders: [ProviderID] = [],
        upstream: Duration = .zero, attempts: Int = 0
    ) {
        self.result = result
        self.provider = provider
        self.triedProviders = triedProviders
        self.upstream = upstream
        self.attempts = attempts
    }
}
