import LocationSearch

extension SearchOptions {
    /// Returns the refusal of the first member that a provider's search cannot serve; `nil` if there is none.
    /// - Parameter cure: what to change in the request.
    func refusal(
        by provider: ProviderID, takesSeveralTypes: Bool = false, gives parts: Set<Part>, cure: String
    ) -> SearchError? {
        let hasWrongTypes = categories.count > 1 && !takesSeveralTypes || wantsPrimaryType
        let member: String? =
            hasWrongTypes
            ? "categories"
            : !excludedCategories.isEmpty ? "excludeCategories" : self.parts.isSubset(of: parts) ? nil : "include"
        return member.map { .unsupported($0, by: provider, cure: cure) }
    }
}
