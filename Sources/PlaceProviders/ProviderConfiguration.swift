import LocationSearch

/// Where a provider's API is and how we name ourselves to it. From settings only.
public struct ProviderConfiguration: Sendable {
    /// `https://host`, without a slash at its end; the paths of the API are appended.
    public let baseURL: String
    /// Goes into requests and nowhere else.
    let apiKey: String

    public init(baseURL: String, apiKey: String) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.apiKey = apiKey
    }
}

/// Without the key, however it gets into a text.
extension ProviderConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String { baseURL }
    public var customMirror: Mirror { Mirror(self, children: ["baseURL": baseURL]) }
}

extension ProviderConfiguration {
    /// Refuses to call without a key: providers answer that in ways that look like the request's fault.
    func checkKey(of provider: ProviderID) throws(SearchError) {
        guard apiKey.isEmpty else { return }
        throw SearchError(.unauthorized, "\(provider.rawValue) has no API key in this worker's settings")
    }
}
