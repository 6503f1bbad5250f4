import LocationSearch
import Logging

/// True when a worker with these settings can ask a provider.
extension Settings {
    /// Refuses settings with which `auto` could ask no provider: every request would end as `unauthorized`, and a whole
    /// backlog is used up that way within seconds. `worker.allowNoProvider` permits it.
    /// - Parameter configured: the providers that have a key.
    /// - Parameter log: gets a warning where it is permitted; `nil` for none.
    /// - Throws: what is missing, with the settings that cure it.
    func requireProvider(among configured: [ProviderID], log: Logger? = nil) throws(SettingsError) {
        guard let problem = providerProblem(among: configured) else { return }

        guard flag("worker.allowNoProvider") else {
            throw SettingsError(
                "\(problem), or set worker.allowNoProvider=true to answer such requests with unauthorized")
        }
        log?.warning("requests will end as unauthorized: worker.allowNoProvider", metadata: ["reason": "\(problem)"])
    }

    private func providerProblem(among configured: [ProviderID]) -> String? {
        if configured.isEmpty {
            return "no provider has an API key: set hotpepper.apiKey or googlePlaces.apiKey (or hotpepper.apiKeyFile,"
                + " googlePlaces.apiKeyFile)"
        }
        guard providerOrder().allSatisfy({ !configured.contains($0) }) else { return nil }
        let names = configured.map(\.rawValue).joined(separator: ", ")
        return
            "providers.order is \"\(text("providers.order"))\", but only \(names) has an API key: name one that has a"
            + " key in providers.order, or set its key"
    }
}
