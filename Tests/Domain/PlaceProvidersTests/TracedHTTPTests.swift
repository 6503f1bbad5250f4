import Basics
import HTTPTransport
import LocationSearch
import ProviderCalls
import Resilience
import Testing
import TraceExport
import Tracing

@testable import PlaceProviders

struct TracedHTTPTests {
    /// Makes a provider's first call within a span.
    /// - Returns: the content of the span.
    private func span(_ provider: ProviderID, _ http: FakeHTTP) async -> RecordedSpan.Content {
        let service = Providers.service(provider, TracedHTTP(http), at: "https://api.test:8443/base")
        let span = SpanTracer(sampleRatio: 1, seed: 1) { _ in }.startSpan(provider.rawValue, context: .topLevel)
        await CallSpan.$current.withValue(span) {
            _ = try? await service.call(for: Providers.search(), followUp: nil, before: Deadline(.now + .seconds(5)))
        }
        return span.content
    }

    @Test(arguments: [
        (ProviderID.hotpepper, "GET", "/hotpepper/gourmet/v1/"), (.googlePlaces, "POST", "/v1/places:searchNearby"),
        (.googlePlacesLegacy, "GET", "/maps/api/place/nearbysearch/json"),
    ])
    func `A span has the address and the status, and no query`(provider: ProviderID, method: String, path: String) async
    {
        let content = await span(provider, FakeHTTP(503, ""))
        let attributes = content.attributes
        #expect(content.name == "\(method) \(provider.rawValue)")
        #expect(attributes.get("http.request.method") == .string(method))
        #expect(attributes.get("url.full") == .string("https://api.test:8443/base" + path))
        #expect(attributes.get("server.address") == .string("api.test"))
        #expect(attributes.get("server.port") == .int64(8443))
        #expect(attributes.get("http.response.status_code") == .int64(503))

        attributes.forEach { name, value in
            #expect(!"\(value)".contains(Providers.key) && !"\(value)".contains("35.68"), "\(name)")
        }
    }

    @Test func `A call without an answer has no status`() async {
        let content = await span(.hotpepper, FakeHTTP([.failure(HTTPError(.connect, "refused"))]))
        #expect(content.attributes.get("http.request.method") == .string("GET"))
        #expect(content.attributes.get("http.response.status_code") == nil)
    }

    @Test func `A provider receives no trace headers`() async throws {
        let (traced, plain) = (FakeHTTP(503, ""), FakeHTTP(503, ""))
        _ = await span(.googlePlaces, traced)
        _ = try? await Providers.google(plain).call(
            for: Providers.search(), followUp: nil, before: Deadline(.now + .seconds(5)))
        let names = { (http: FakeHTTP) in http.requests.flatMap { $0.headers.map(\.name) } }
        #expect(names(traced) == names(plain))
    }

    @Test(arguments: [
        ("http://a", "a", 80), ("https://a/b?c=d", "a", 443), ("http://127.0.0.1:8090/x", "127.0.0.1", 8090),
        ("http://[::1]:80/x", "::1", 80), ("https://[::1]/x", "::1", 443), ("HTTPS://A:1/", "A", 1),
    ])
    func `The address of a URL is host and port`(url: String, host: String, port: Int) {
        let address = CallAddress(url)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(!address.withoutQuery.contains("?"))
    }
}
