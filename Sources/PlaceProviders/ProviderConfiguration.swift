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
