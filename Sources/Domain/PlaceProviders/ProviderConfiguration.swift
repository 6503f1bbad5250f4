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

extension ProviderConfiguration {
    /// Refuses a call without a key, because providers report such calls as a fault of the request.
    func checkKey(of provider: ProviderID) throws(SearchError) {
        guard !apiKey.isEmpty else { throw .noKey(of: provider) }
    }

    /// Refuses an answer that repeats our key, for example in a link or a front end's page, because events contain its texts.
    func checkSilence(of answer: borrowing ProviderAnswer, from provider: ProviderID) throws(SearchError) {
        let keys = key.telltales
        if keys.isEmpty { return }

        var isSilent = !KeySearch.repeats(keys, in: answer.places.allTexts)
        for text in answer.attributions { isSilent = isSilent && !KeySearch.repeats(keys, in: text.utf8.span) }
        if let text = answer.photoURL { isSilent = isSilent && !KeySearch.repeats(keys, in: text.utf8.span) }
        if let text = answer.nextPageToken { isSilent = isSilent && !KeySearch.repeats(keys, in: text.utf8.span) }

        guard isSilent else { throw .badResponse("contains the API key", from: provider) }
    }
}
