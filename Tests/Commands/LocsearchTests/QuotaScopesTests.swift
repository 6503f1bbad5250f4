import LocationSearch
import QuotaSharing
import Testing

@testable import locsearch

/// The workers of a fleet may have several versions, and must compute the same digests.
struct QuotaScopesTests {
    private let scopes = QuotaScopes(group: "workers", requestsTopic: "requests")

    /// The expected digests are those of Python's `hmac.new(key, text, "sha256")`, with zero bytes between the key's parts.
    @Test func `A digest is the start of an HMAC`() {
        #expect(scopes.fleet == "17d30eab24")
        #expect(scopes.scope(of: .hotpepper, key: "secret").key == "525e0fc691")
    }

    @Test func `Digests distinguish keys and fleets`() {
        let others = QuotaScopes(group: "workers", requestsTopic: "others")
        let digests = [
            scopes.scope(of: .hotpepper, key: "secret").key, scopes.scope(of: .hotpepper, key: "another").key,
            scopes.scope(of: .hotpepper, key: "").key, others.scope(of: .hotpepper, key: "secret").key,
        ]
        #expect(Set(digests).count == digests.count)
        #expect(scopes.scope(of: .hotpepper, key: nil).key == nil)
    }
}
