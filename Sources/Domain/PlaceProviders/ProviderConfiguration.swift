import LocationSearch

/// The address of a provider's API and its key. Both come from settings only.
public struct ProviderConfiguration: Sendable {
    /// The start of every URL, such as `https://host`, without a trailing slash. The paths of the API are appended.
    public let baseURL: String
    let key: ProviderKey

    /// The API key, which is used in requests only.
    var apiKey: String { key.text }

    /// Makes the configuration of a provider at that address. With an empty key, every call fails as `unauthorized` before it is made.
    public init(baseURL: String, key: ProviderKey) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.key = key
    }

    /// Makes the configuration of a provider whose key never changes.
    public init(baseURL: String, apiKey: String) { self.init(baseURL: baseURL, key: ProviderKey(apiKey)) }
}

/// No textual form of a configuration contains the key.
extension ProviderConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String { baseURL }
    public var customMirror: Mirror { Mirror(self, children: ["baseURL": baseURL]) }
}
