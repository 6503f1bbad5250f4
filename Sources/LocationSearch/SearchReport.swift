/// How the asking went: the answer or the failure, from whom, and at what cost.
package struct SearchReport: Sendable, Hashable {
    package var result: Result<ProviderAnswer, SearchError>
    package var provider: ProviderID?
    package var triedProviders: [ProviderID]
    package var upstream: Duration
    package var attempts: Int

    package init(
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
