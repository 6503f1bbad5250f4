internal import CScan
import LocationSearch

/// Where a provider's API is and how we name ourselves to it. From settings only.
public struct ProviderConfiguration: Sendable {
    /// `https://host`, without a slash at its end; the paths of the API are appended.
    public let baseURL: String
    /// Goes into requests and nowhere else.
    let apiKey: String
    /// The key's bytes, as it is and as it stands in a URL; none of a short one, such as a simulator's `test`.
    private let keyForms: [[UInt8]]

    /// Bytes of a key that no answer holds by chance. Real ones have 16 (Hot Pepper) and 39 (Google).
    private static let shortestTellingKey = 8

    public init(baseURL: String, apiKey: String) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.apiKey = apiKey
        let isTelling = apiKey.utf8.count >= Self.shortestTellingKey
        keyForms = isTelling ? Set([apiKey, QueryURL.encoded(apiKey)]).map { Array($0.utf8) } : []
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
        guard !apiKey.isEmpty else { throw .noKey(of: provider) }
    }

    /// Refuses an answer that repeats our key, as a front end's page or a link might: its texts go into events.
    func checkSilence(of answer: borrowing ProviderAnswer, from provider: ProviderID) throws(SearchError) {
        for key in keyForms {
            var isSilent = !Self.contains(answer.places.allTexts, key)
            for text in answer.attributions { isSilent = isSilent && !Self.contains(text.utf8.span, key) }
            if let text = answer.photoURL { isSilent = isSilent && !Self.contains(text.utf8.span, key) }
            if let text = answer.nextPageToken { isSilent = isSilent && !Self.contains(text.utf8.span, key) }
            guard isSilent else { throw .badResponse("repeats our API key", from: provider) }
        }
    }

    private static func contains(_ text: Span<UInt8>, _ key: [UInt8]) -> Bool {
        // Safe: the buffers are used within the call only.
        unsafe text.withUnsafeBytes { text in
            unsafe key.withUnsafeBytes { key in
                guard let start = text.baseAddress, let sought = key.baseAddress else { return false }
                return unsafe locsearch_contains(start, text.count, sought, key.count)
            }
        }
    }
}
