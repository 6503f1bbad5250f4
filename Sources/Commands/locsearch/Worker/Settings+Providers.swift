import LocationSearch

/// Checks whether a worker with these settings can call a provider.
extension Settings {
    /// Refuses settings with which `auto` could use no provider. Every request would end as `unauthorized`, and a whole
    /// backlog would be lost that way within seconds.
    /// - Parameter configured: the providers that have a key.
    /// - Throws: an error that names the missing settings.
    func requireProvider(among configured: [ProviderID]) throws(SettingsError) {
        guard !configured.isEmpty else {
            throw SettingsError(
                "no provider has an API key: set hotpepper.apiKey or googlePlaces.apiKey (or hotpepper.apiKeyFile,"
                    + " googlePlaces.apiKeyFile)")
        }
        guard providerOrder().allSatisfy({ !configured.contains($0) }) else { return }
        let names = configured.map(\.rawValue).joined(separator: ", ")
        throw SettingsError(
            "providers.order is \"\(text("providers.order"))\", but only \(names) has an API key: list a provider"
                + " that has a key, or set the key of a listed one")
    }
}
