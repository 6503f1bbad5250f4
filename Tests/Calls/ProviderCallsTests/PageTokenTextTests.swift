import TestSupport
import LocationSearch
import Testing

@testable import ProviderCalls

/// The text of page tokens, which other workers and later versions must be able to read.
struct PageTokenTextTests {
    private static let search = SearchRequest(
        requestID: "r", category: "cafe", location: Coordinate(latitude: 35.690921, longitude: 139.700258),
        radiusMeters: 1500, keyword: "抹茶", language: "ja")

    /// A token from before an upgrade has to work after it. A deliberate change of format or digest needs the next version digit.
    @Test func `Texts are the same in every process and version`() {
        let texts = ProviderID.allCases.map { PageToken("21", of: $0, for: Self.search).text }
        #expect(texts == ["1g.9mdawgcb.21", "1l.9mdawgcb.21", "1h.9mdawgcb.21"])
        #expect(PageToken("a b", of: .googlePlaces, for: Self.search).text == "1g.9mdawgcb.~YSBi")
    }

    @Test(arguments: ["2", "AeJ-_.~x", "~", "~YSBi", "a.b.c", "a/b+c==", "語", "\u{0}\n\"", " "])
    func `A token is safe in a URL and can be read back`(ownToken: String) throws {
        let token = PageToken(ownToken, of: .googlePlaces, for: Self.search)
        let text = try #require(token.text)
        let isSafe = text.utf8.allSatisfy { byte in
            Array("-_.~".utf8).contains(byte) || ("0"..."9").contains(Character(Unicode.Scalar(byte)))
                || ("a"..."z").contains(Character(Unicode.Scalar(byte | 0x20)))
        }
        #expect(isSafe)
        #expect(try PageToken(text) == token)
    }

    @Test(arguments: [(4084, "a", true), (4085, "a", false), (3062, "=", true), (3063, "=", false)])
    func `A token that is too long for a request is left out`(count: Int, character: String, fits: Bool) {
        let text = PageToken(String(repeating: character, count: count), of: .googlePlaces, for: Self.search).text
        #expect((text != nil) == fits)
        if fits { #expect(text?.count == 4096) }
    }

    /// A provider's request does not differ in the ninth decimal or in the sign of zero.
    @Test func `Searches that ask the same share a digest`() {
        var same = Self.search
        same.location?.latitude += 1e-9
        #expect(SearchDigest(of: same) == SearchDigest(of: Self.search))
        let origins = [0.0, -0.0].map { zero in
            SearchDigest(
                of: SearchRequest(requestID: "r", location: Coordinate(latitude: zero, longitude: zero)))
        }
        #expect(origins[0] == origins[1])
    }

    /// `include` only adds to the places of a page.
    @Test func `The order and the types belong to a search`() throws {
        let options = [
            SearchOptions(), SearchOptions(ranking: .distance), SearchOptions(ranking: .popularity),
            SearchOptions(categories: ["cafe"]), SearchOptions(categories: ["cafe", "bar"]),
            SearchOptions(categories: ["bar", "cafe"]), SearchOptions(excludedCategories: ["bar"]),
            SearchOptions(categories: ["cafe"], excludedCategories: ["bar"]),
        ]
        func digest(_ options: SearchOptions) -> SearchDigest {
            var search = Self.search
            search.options = options
            return SearchDigest(of: search)
        }
        #expect(Set(options.map(digest)).count == options.count)
        for var option in options {
            let plain = digest(option)
            option.parts = [.openingHours]
            #expect(digest(option) == plain)
        }

        var next = Self.search
        next.options = SearchOptions(ranking: .distance)
        next.pageToken = PageToken("21", of: .googlePlaces, for: Self.search).text
        let error = #expect(throws: SearchError.self) { try next.addressedToProviders() }
        #expect(error?.member == "pageToken")
    }

    @Test func `Digests of many searches differ`() {
        var digests: Set<SearchDigest> = []
        for latitude in 0..<100 {
            for radius in 1...100 {
                var search = Self.search
                search.location?.latitude = Double(latitude) / 1e4
                search.radiusMeters = Double(radius)
                digests.insert(SearchDigest(of: search))
            }
        }
        #expect(digests.count == 10_000)
    }

    /// A damaged token is rejected, or is another token whose digest matches no search of the sender. No input traps.
    @Test func `A damaged token is refused or differs`() throws {
        var random = SplitMix64(state: 7)
        for ownToken in ["21", "a/b", "AeJ-_"] {
            let token = PageToken(ownToken, of: .hotpepper, for: Self.search)
            let original = Array(try #require(token.text).unicodeScalars)
            for _ in 0..<5000 {
                var text = original
                switch Int.random(in: 0..<3, using: &random) {
                case 0: text.remove(at: .random(in: text.indices, using: &random))
                case 1: text.insert("é", at: .random(in: text.indices, using: &random))
                default:
                    let scalar = Unicode.Scalar(UInt8.random(in: 0..<128, using: &random))
                    text[.random(in: text.indices, using: &random)] = scalar
                }
                let damaged = String(String.UnicodeScalarView(text))
                if let read = try? PageToken(damaged), text != original { #expect(read != token) }
            }
        }
    }
}
