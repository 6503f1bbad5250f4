internal import CScan
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

        var isSilent = !Self.repeats(keys, in: answer.places.allTexts)
        for text in answer.attributions { isSilent = isSilent && !Self.repeats(keys, in: text.utf8.span) }
        if let text = answer.photoURL { isSilent = isSilent && !Self.repeats(keys, in: text.utf8.span) }
        if let text = answer.nextPageToken { isSilent = isSilent && !Self.repeats(keys, in: text.utf8.span) }

        guard isSilent else { throw .badResponse("repeats our API key", from: provider) }
    }

    /// Returns true when a text holds a key, be it spelt with escapes, and escaped more than once.
    static func repeats(_ keys: [[UInt8]], in text: Span<UInt8>) -> Bool {
        for key in keys where contains(text, key) { return true }
        guard hasEscapes(text) else { return false }

        var plain = EscapedText.unescaped(text)
        for _ in 0..<escapeDepth {
            guard let bytes = plain else { return false }
            for key in keys where contains(bytes.span, key) { return true }
            plain = EscapedText.unescaped(bytes.span)
        }
        return false
    }

    /// How often a text may have been escaped: a link in a link in a page.
    private static let escapeDepth = 3

    /// Returns whether a text may hold an escape that `EscapedText` undoes. Few answers do, and the others are not copied.
    private static func hasEscapes(_ text: Span<UInt8>) -> Bool {
        // This is safe because the buffer is used within the call only.
        unsafe text.withUnsafeBufferPointer { text in
            guard let start = text.baseAddress else { return false }
            return unsafe locsearch_contains(start, text.count, "%", 1)
                || locsearch_contains_pair(start, text.count, UInt8(ascii: "&"), UInt8(ascii: "#"))
                || locsearch_contains_pair(start, text.count, UInt8(ascii: "\\"), UInt8(ascii: "u"))
        }
    }

    private static func contains(_ text: Span<UInt8>, _ key: [UInt8]) -> Bool {
        // This is safe because the buffers are used within the call only.
        unsafe text.withUnsafeBytes { text in
            unsafe key.withUnsafeBytes { key in
                guard let start = text.baseAddress, let sought = key.baseAddress else { return false }
                return unsafe locsearch_contains(start, text.count, sought, key.count)
            }
        }
    }
}
