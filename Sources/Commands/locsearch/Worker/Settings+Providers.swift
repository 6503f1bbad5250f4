import LocationSearch
import Logging

/// Checks whether a worker with these settings can call a provider.
extension Settings {
    /// Refuses settings with which `auto` could use no provider. Every request would end as `unauthorized`, and a whole
    /// backlog would be lost that way within seconds. `worker.allowNoProvider` permits it.
    /// - Parameter configured: the providers that have a key.
    /// - Parameter log: receives a warning if such settings are permitted; `nil`: no warning.
    /// - Throws: an error that names the missing settings.
    func requireProvider(among configured: [ProviderID], log: Logger? = nil) throws(SettingsError) {
        guard let problem = providerProblem(among: configured) else { return }

        guard flag("worker.allowNoProvider") else {
            throw SettingsError(
                "\(problem), or set worker.allowNoProvider=true to end such requests as unauthorized")
        }
        log?.warning(
            "no provider can be used: requests end as unauthorized (worker.allowNoProvider)",
            metadata: ["reason": "\(problem)"])
    }

    private func providerProblem(among configured: [ProviderID]) -> String? {
        if configured.isEmpty {
            return "no provider has an API key: set hotpepper.apiKey or googlePlaces.apiKey (or hotpepper.apiKeyFile,"
                + " googlePlaces.apiKeyFile)"
        }
        guard providerOrder().allSatisfy({ !configured.contains($0) }) else { return nil }
        let names = configured.map(\.rawValue).joined(separator: ", ")
        return
            "providers.order is \"\(text("providers.order"))\", but only \(names) has an API key: list a provider"
            + " that has a key, or set the key of a listed one"
    }
}
