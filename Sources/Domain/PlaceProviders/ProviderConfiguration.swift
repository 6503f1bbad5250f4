import LocationSearch

/// The address of a provider's API and the key for it. Both come from settings only.
public struct ProviderConfiguration: Sendable {
    /// The start of every URL, such as `https://host`, without a slash at its end. The paths of the API are appended.
    public let baseURL: String
    let key: ProviderKey

    /// The API key, which goes into requests and nowhere else.
    var apiKey: String { key.text }

    /// A provider at that address. An empty key makes every call fail as `unauthorized` before it is made.
    public init(baseURL: String, key: ProviderKey) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.key = key
    }

    /// A provider whose key stays the same.
    public init(baseURL: String, apiKey: String) { self.init(baseURL: baseURL, key: ProviderKey(apiKey)) }
}

/// No text that is made of a configuration holds the key.
extension ProviderConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String { baseURL }
    public var customMirror: Mirror { Mirror(self, children: ["baseURL": baseURL]) }
}

extension ProviderConfiguration {
    /// Refuses to call without a key, because providers answer such calls as if the request were at fault.
    func checkKey(of provider: ProviderID) throws(SearchError) {
        guard !apiKey.isEmpty else { throw .noKey(of: provider) }
    }

    /// Refuses an answer that repeats our key, as a link or a front end's page might, because its texts go into events.
    func checkSilence(of answer: borrowing ProviderAnswer, from provider: ProviderID) throws(SearchError) {
        let keys = key.telltales
        if keys.isEmpty { return }

        var isSilent = !KeySearch.repeats(keys, in: answer.places.allTexts)
        for text in answer.attributions { isSilent = isSilent && !KeySearch.repeats(keys, in: text.utf8.span) }
        if let text = answer.photoURL { isSilent = isSilent && !KeySearch.repeats(keys, in: text.utf8.span) }
        if let text = answer.nextPageToken { isSilent = isSilent && !KeySearch.repeats(keys, in: text.utf8.span) }

        guard isSilent else { throw .badResponse("repeats our API key", from: provider) }
    }
}
