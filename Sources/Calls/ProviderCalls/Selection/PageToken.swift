import Basics
internal import LocationSearch

/// The text that a result gives as `nextPageToken` and that the request for the next page brings back as `pageToken`.
///
/// A token names the provider whose answer goes on and the search that it belongs to. One that comes back with another
/// provider or another search, or that no worker ever gave, is refused before anybody is called.
///
///     1h.q3Zl0-9x.21
///
/// The parts are a digit for the version of this format and a letter for the provider, the digest of the search, and the
/// provider's own token: as it is where a URL may hold it so, else `~` and its Base64.
///
/// The digest follows from the request alone, so every worker reads the tokens of every other, also after a restart. It
/// guards against mistakes, not against forgery, and a forged token gains nothing: who can write one can write any
/// request, and all it leads to is one call that limits, breaker and budget count like every other. The provider's own
/// token is text in an encoded query value or a JSON string there, and changes nothing else about that call.
struct PageToken: Hashable {
    /// The provider that gave its own token.
    let provider: ProviderID
    /// The provider's token, as its API wants it back. Never empty.
    let ownToken: String
    /// The digest of the search that the token continues.
    let digest: SearchDigest

    /// The token that continues `search` at `provider`.
    init(_ ownToken: String, of provider: ProviderID, for search: SearchRequest) {
        self.provider = provider
        self.ownToken = ownToken
        digest = SearchDigest(of: search)
    }

    // MARK: Text

    private static let version = UInt8(ascii: "1")
    private static let encodedMark: UInt8 = UInt8(ascii: "~")

    /// The token as results carry it; `nil` when it would be longer than a request may carry back. Then the pages end
    /// here, as a token that every worker refuses would be worse than none.
    var text: String? {
        var text: [UInt8] = []
        text.reserveCapacity(ownToken.utf8.count + 16)
        text.append(Self.version)
        text.append(provider.pageTokenLetter)
        text.append(UInt8(ascii: "."))
        digest.append(to: &text)
        text.append(UInt8(ascii: "."))

        if Self.isSafeInURL(ownToken) {
            text.append(contentsOf: ownToken.utf8)
        } else {
            text.append(Self.encodedMark)
            text.append(contentsOf: Base64.encode(Array(ownToken.utf8), as: .url).utf8)
        }
        return text.count <= SearchRequest.pageTokenLength.upperBound ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Reads a token from a request.
    /// - Throws: `invalid-request` when no worker of this version gave that text.
    init(_ text: String) throws(SearchError) {
        let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == 2, parts[0].utf8.first == Self.version,
            let provider = ProviderID.allCases.first(where: { $0.pageTokenLetter == parts[0].utf8.last }),
            let digest = SearchDigest(text: parts[1]), let ownToken = Self.ownToken(in: parts[2])
        else {
            throw .invalid(
                "pageToken",
                expected:
                    "the nextPageToken of an earlier result, unchanged (those of older versions end with an upgrade); leave it out to search anew"
            )
        }
        self.provider = provider
        self.digest = digest
        self.ownToken = ownToken
    }

    private static func ownToken(in text: Substring) -> String? {
        guard text.utf8.first == encodedMark else { return !text.isEmpty && isSafeInURL(text) ? String(text) : nil }
        guard let bytes = Base64.decode(text.dropFirst(), as: .url), !bytes.isEmpty else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns true for the unreserved characters of RFC 3986 alone, unless the text could be taken for a token in Base64.
    private static func isSafeInURL(_ text: some StringProtocol) -> Bool {
        guard text.utf8.first != encodedMark else { return false }
        return text.utf8.allSatisfy(PercentEncoding.isUnreserved)
    }
}

extension ProviderID {
    /// The letter that names the provider in page tokens. Never change one: tokens that are under way would be refused.
    fileprivate var pageTokenLetter: UInt8 {
        switch self {
        case .googlePlaces: UInt8(ascii: "g")
        case .googlePlacesLegacy: UInt8(ascii: "l")
        case .hotpepper: UInt8(ascii: "h")
        }
    }
}

extension SearchRequest {
    /// Returns the request as providers are to be asked: one for a further page goes to the provider that gave its token,
    /// with that provider's own token in place of the worker's. Details and photos have no pages and ignore a token.
    /// - Throws: `invalid-request` when the token is not ours, of another provider than the request names, or of another
    ///   search.
    func addressedToProviders() throws(SearchError) -> SearchRequest {
        guard operation == .search, let pageToken else { return self }
        let token = try PageToken(pageToken)

        if let named = provider.named, named != token.provider {
            throw .invalid(
                "pageToken",
                expected:
                    "a nextPageToken of \(named.rawValue), as the request names it; this one is of \(token.provider.rawValue)"
            )
        }
        guard token.digest == SearchDigest(of: self) else {
            throw .invalid(
                "pageToken",
                expected:
                    "the search that it continues, with category, location, radiusMeters, keyword, language and openNow as they were; leave it out to search anew"
            )
        }

        var request = self
        request.provider = .named(token.provider)
        request.pageToken = token.ownToken
        return request
    }
}
