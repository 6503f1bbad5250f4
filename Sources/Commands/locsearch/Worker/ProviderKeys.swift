import HTTPTransport
import LocationSearch
import PlaceProviders
import ProviderCalls

/// The providers' API keys, shared by all loops of a process. Both of Google's APIs use the same key.
struct ProviderKeys: Sendable {
    private let google: Holder?
    private let hotpepper: Holder?

    static let ofGoogle = [ProviderID.googlePlaces, .googlePlacesLegacy]
    static let ofHotpepper = [ProviderID.hotpepper]

    /// A key with its initial text.
    private struct Holder: Sendable {
        let key: ProviderKey
        let text: String

        init(_ text: String) {
            key = ProviderKey(text)
            self.text = text
        }
    }

    /// - Throws: `SettingsError` if a key file cannot be used.
    init(_ settings: Settings) throws(SettingsError) {
        google = try settings.googleKey().map { Holder($0) }
        hotpepper = try settings.hotpepperKey().map { Holder($0) }
    }

    func services(_ settings: Settings, http: any HTTPSending) -> [any PlaceService] {
        func configuration(_ baseURL: String, holder: Holder) -> ProviderConfiguration {
            ProviderConfiguration(baseURL: settings.text(baseURL), key: holder.key)
        }

        var services: [any PlaceService] = []
        if let hotpepper {
            services.append(
                HotpepperService(
                    http: http, configuration: configuration("hotpepper.baseURL", holder: hotpepper),
                    response: settings.hotpepperResponse))
        }
        if let google {
            services.append(
                GooglePlacesService(
                    http: http, configuration: configuration("googlePlaces.baseURL", holder: google),
                    fields: settings.googlePlacesFields))
            services.append(
                GooglePlacesLegacyService(
                    http: http, configuration: configuration("googlePlacesLegacy.baseURL", holder: google)))
        }
        return services
    }

    /// Returns the keys that are stored in files.
    /// - Parameter renew: called with the providers that have a new key.
    func files(of settings: Settings, renew: @escaping @Sendable ([ProviderID]) async -> Void) -> [SecretFiles.Entry] {
        var files: [SecretFiles.Entry] = []
        func add(
            _ setting: String, holder: Holder?, providers: [ProviderID],
            read: @escaping @Sendable () throws(SettingsError) -> String?
        ) {
            guard settings[setting] != nil, let holder else { return }
            let use = { @Sendable (text: String) in
                holder.key.replace(with: text)
                await renew(providers)
            }
            files.append(SecretFiles.Entry(setting: setting, current: holder.text, read: read, use: use))
        }

        add("googlePlaces.apiKeyFile", holder: google, providers: Self.ofGoogle) {
            () throws(SettingsError) in try settings.googleKey()
        }
        add("hotpepper.apiKeyFile", holder: hotpepper, providers: Self.ofHotpepper) {
            () throws(SettingsError) in try settings.hotpepperKey()
        }
        return files
    }
}
