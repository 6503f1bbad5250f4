import Basics
import HTTPTransport
import LocationSearch
import PlaceProviders
import Resilience
import Testing

/// A key that is replaced between two calls.
struct ProviderKeyTests {
    private static let (old, new) = ("SECRET-old-0123", "SECRET-new-0123")

    private func service(_ http: FakeHTTP, _ key: ProviderKey) -> HotpepperService {
        HotpepperService(http: http, configuration: ProviderConfiguration(baseURL: "https://hot.test", key: key))
    }

    private func call(_ service: HotpepperService) async throws(SearchError) {
        _ = try await service.call(for: Providers.search(), followUp: nil, before: Deadline(Instant.now + .seconds(5)))
    }

    @Test func `The next call uses the new key`() async throws {
        let (http, key) = (FakeHTTP(#"{"results":{"results_available":0,"shop":[]}}"#), ProviderKey(Self.old))
        let service = service(http, key)

        try await call(service)
        key.replace(with: Self.new)
        try await call(service)

        let urls = http.requests.map(\.url)
        #expect(urls[0].contains("key=\(Self.old)") && !urls[0].contains(Self.new))
        #expect(urls[1].contains("key=\(Self.new)") && !urls[1].contains(Self.old))
    }

    /// A call that began with the old key may be answered after the change.
    @Test(arguments: [old, new])
    func `An answer that repeats either key is refused`(repeated: String) async throws {
        let shop = #"{"id":"J001","name":"\#(repeated)","lat":35.6,"lng":139.7}"#
        let http = FakeHTTP(#"{"results":{"results_available":1,"shop":[\#(shop)]}}"#)
        let key = ProviderKey(Self.old)
        let service = service(http, key)
        key.replace(with: Self.new)

        let error = await #expect(throws: SearchError.self) { try await call(service) }
        #expect(error?.code == .badResponse)
        #expect(error?.message.contains("SECRET") == false)
    }
}
