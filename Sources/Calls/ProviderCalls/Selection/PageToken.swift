import Basics
internal import LocationSearch

/// The text that a result returns as `nextPageToken`, and that the request for the next page sends back as `pageToken`.
///
/// A token names the provider and the search that it continues. A token for another provider or another search, or one that
/// no worker issued, is refused before any call.
///
///     1h.q3Zl0-9x.21
///
/// The first part is a digit for the version of this format and a letter for the provider. The digest of the search
/// follows, and then the provider's own token. That token is unchanged if it is safe in a URL, otherwise `~` and its
/// Base64.
///
/// The digest depends only on the request, so every worker can read every other worker's tokens, also after a restart. It
/// protects against mistakes, not against forgery. A forged token gains nothing: its author could send any request anyway,
/// and limits, breaker and budget count the resulting call. In that call, the provider's token is only text in an encoded
/// query value or in a JSON string.
struct PageToken: Hashable {
    /// The provider that issued `ownToken`.
    let provider: ProviderID
    /// The provider's token, in the form that its API expects. Never empty.
    let ownToken: String
    /// The digest of the search that the token continues.
    let digest: SearchDigest

    /// Makes the token that continues `search` at `provider`.
    init(_ ownToken: String, of provider: ProviderID, for search: SearchRequest) {
        self.provider = provider
        self.ownToken = ownToken
        digest = SearchDigest(of: search)
    }

    // MARK: Text

    private static let version = UInt8(ascii: "1")
    private static let encodedMark: UInt8 = UInt8(ascii: "~")

    /// The token as results carry it; `nil` if it would be longer than a request may send back. The pages then end here,
    /// because every worker would refuse such a token.
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
    /// - Throws: `invalid-request` if no worker of this version issued that text.
    init(_ text: String) throws(SearchError) {
        let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == 2, parts[0].utf8.first == Self.version,
            let provider = ProviderID.allCases.first(where: { $0.pageTokenLetter == parts[0].utf8.last }),
            let digest = SearchDigest(text: parts[1]), let ownToken = Self.ownToken(in: parts[2])
        else {
            throw .invalid(
                "pageToken",
                expected:
                    "the nextPageToken of an earlier result, unchanged and from the same version of the worker; leave it out for a new search"
            )
        }
        (self.provider, self.digest, self.ownToken) = (provider, digest, ownToken)
    }

    private static func ownToken(in text: Substring) -> String? {
        guard text.utf8.first == encodedMark else { return !text.isEmpty && isSafeInURL(text) ? String(text) : nil }
        guard let bytes = Base64.decode(text.dropFirst(), as: .url), !bytes.isEmpty else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns whether the text has only unreserved characters of RFC 3986 and cannot be mistaken for a token in Base64.
    private static func isSafeInURL(_ text: some StringProtocol) -> Bool {
        guard text.utf8.first != encodedMark else { return false }
        return text.utf8.allSatisfy(PercentEncoding.isUnreserved)
    }
}

extension ProviderID {
    /// The letter that identifies the provider in page tokens. Never change one: tokens in use would be refused.
    fileprivate var pageTokenLetter: UInt8 {
        switch self {
        case .googlePlaces: UInt8(ascii: "g")
        case .googlePlacesLegacy: UInt8(ascii: "l")
        case .hotpepper: UInt8(ascii: "h")
        }
    }
}

extension SearchRequest {
    /// Returns the request in the form in which providers receive it. A request for a further page goes to the provider
    /// that issued its token, with that provider's own token. Details and photos have no pages and ignore a token.
    /// - Throws: `invalid-request` if no worker issued the token, or if it belongs to another search or provider.
    func addressedToProviders() throws(SearchError) -> SearchRequest {
        guard operation == .search, let pageToken else { return self }
        let token = try PageToken(pageToken)

        if let named = provider.named, named != token.provider {
            throw .invalid(
                "pageToken",
                expected:
                    "a nextPageToken of \(named.rawValue), because the request names that provider; this one is from \(token.provider.rawValue)"
            )
        }
        guard token.digest == SearchDigest(of: self) else {
            throw .invalid(
                "pageToken",
                expected:
                    "the same category, categories, excludeCategories, rankBy, location, radiusMeters, keyword, language and openNow as in the search that it continues; leave it out for a new search"
            )
        }

        var request = self
        request.provider = .named(token.provider)
        request.pageToken = token.ownToken
        return request
    }
}
