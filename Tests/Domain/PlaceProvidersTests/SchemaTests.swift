@testable import EventContract
import HTTPTransport
import LocationSearch
import ProviderCalls
import TestSupport
import Testing

@testable import PlaceProviders

/// For any answer of a provider, the outcome satisfies the published schemas.
struct SchemaTests {
    /// Values that a provider may send in place of any other.
    private static let oddities = [
        "null", "true", "0", "-1", "-0.5", "1e300", "-1e300", "9223372036854775807", "-9223372036854775808", "1e-320",
        "99999999999999999999", "{}", "[]", "[null]", #""""#, #"" ""#, #""x""#, #""0""#, #""-1""#, #""nan""#, #""inf""#,
        #""1e999""#, #""\u0000""#, #""\n""#, #""\u0039\u0039\u0039""#, #""javascript:alert(1)""#, #""//host/path""#,
        #""https://""#, #""http:///path""#, #""https://@/""#, #""https://user@:80/""#, #""https://:443""#,
        #""HTTPS://host/""#,
        #""ftp://host/""#, #""data:text/html,x""#, #""https:/host""#, #""https://a\\b""#, #""https://\u0000host/""#,
        #""http://ok.example/p""#, #""https://ok.example""#,
    ]

    private static let hotpepper = [
        #"{"results":{"results_available":~,"shop":[{"id":~,"name":~,"address":~,"lat":~,"lng":~,"genre":{"name":~},"#
            + #""sub_genre":{"name":~},"urls":{"pc":~},"photo":{"pc":{"l":~,"m":~},"mobile":{"l":~}}},"#
            + #"{"id":"J2","name":"n","lat":"35.1","lng":~,"urls":{"pc":~},"photo":{"pc":{"l":~}}}]}}"#,
        #"{"results":{"error":[{"code":~,"message":~}]}}"#,
    ]
    private static let google = [
        #"{"places":[{"id":~,"name":~,"displayName":{"text":~},"formattedAddress":~,"shortFormattedAddress":~,"#
            + #""location":{"latitude":~,"longitude":~},"types":[~,~],"primaryType":~,"googleMapsUri":~,"websiteUri":~,"rating":~,"#
            + #""userRatingCount":~,"priceLevel":~,"currentOpeningHours":{"openNow":~},"businessStatus":~,"regularOpeningHours":{"weekdayDescriptions":[~,~]},"attributions":[{"provider":~}]},"#
            + #"{"id":"b","rating":~,"userRatingCount":~,"googleMapsUri":~}],"nextPageToken":~}"#,
        #"{"id":~,"displayName":{"text":~},"location":{"latitude":~,"longitude":~},"websiteUri":~,"rating":~,"#
            + #""photos":[{"name":"places/x/photos/y","authorAttributions":[{"displayName":~}]}],"photoUri":~}"#,
        #"{"error":{"code":~,"status":~,"message":~,"details":[{"reason":~,"metadata":{"quota_limit":~},"retryDelay":~}]}}"#,
    ]
    private static let legacy = [
        #"{"status":"OK","html_attributions":[~],"next_page_token":~,"results":[{"place_id":~,"name":~,"vicinity":~,"#
            + #""geometry":{"location":{"lat":~,"lng":~}},"types":[~],"rating":~,"user_ratings_total":~,"price_level":~,"#
            + #""opening_hours":{"open_now":~,"weekday_text":[~]},"business_status":~,"url":~,"website":~},{"place_id":"b","price_level":~,"rating":~,"website":~}]}"#,
        #"{"status":"OK","result":{"place_id":~,"name":~,"url":~,"website":~,"photos":[{"photo_reference":"r"}]},"#
            + #""result":{"place_id":"c","name":~},"results":[{"place_id":"d","name":"d"}]}"#,
        #"{"status":~,"error_message":~}"#,
    ]

    /// Fills each marked position with a value. Most values are ordinary, because otherwise hardly any answer would have a place.
    private static func filled(_ template: String, _ random: inout SplitMix64) -> String {
        let parts = template.split(separator: "~", omittingEmptySubsequences: false)
        return parts.dropLast().reduce(into: "") { text, part in
            let isOdd = Int.random(in: 0..<3, using: &random) == 0
            text += part + ((isOdd ? oddities.randomElement(using: &random) : nil) ?? #""4""#)
        } + (parts.last ?? "")
    }

    @Test(arguments: ProviderID.allCases)
    func `Odd answers lead to outcomes that satisfy their schemas`(provider: ProviderID) async throws {
        let templates = provider == .hotpepper ? Self.hotpepper : provider == .googlePlaces ? Self.google : Self.legacy
        let requests = [Providers.search(limit: 100), Providers.details("J001"), Providers.photo("J001")]
        let schemas = (result: try JSONSchema("result"), error: try JSONSchema("error"))
        let statuses = [100, 199, 200, 204, 302, 400, 403, 404, 429, 500, 503, 599, 600, 700, 999, 1000]
        let locations = ["https://p.example/1", "https://", "//host", "javascript:x", nil]

        var random = SplitMix64(state: 28)
        var encoder = OutcomeEncoder(seed: 1)
        var (places, failures) = (0, 0)
        for number in 0..<3000 {
            let body = Array(Self.filled(templates[number % templates.count], &random).utf8)
            let status = number % 4 == 0 ? statuses.randomElement(using: &random) ?? 200 : 200
            let response = HTTPResponse(
                status: status, body: body, location: locations.randomElement(using: &random) ?? nil,
                retryAfter: ["nan", "-1", "1e300", "0.0001", "x"].randomElement(using: &random))
            let request = requests[number / templates.count % requests.count]

            var result: Result<ProviderAnswer, SearchError>
            do throws(SearchError) {
                let answer = try await Providers.service(provider, FakeHTTP([.success(response)])).ask(request)
                places += answer.places.count
                result = .success(answer)
            } catch {
                failures += 1
                result = .failure(error)
            }
            let outcome = SearchPresenter().present(&result, of: [provider], costing: CallCost(), for: request)
            let event = encoder.encode(
                outcome, for: RequestEnvelope(source: SourcePosition(topic: "t", partition: 0, offset: 0)),
                receivedAt: .now(), completedAt: .now())

            let faults = try (event.topic.hasSuffix("results") ? schemas.result : schemas.error).faults(
                of: event.value ?? [])
            #expect(faults.isEmpty, "\(String(decoding: body, as: UTF8.self)) as \(status)")
            if number % 64 == 0 { await Task.yield() }
        }
        #expect(places > 500 && failures > 200, "\(places) places, \(failures) failures")
    }

    @Test(
        arguments: [
            ("https://a.example/x", true), ("http://a", true), ("https://a.example:8443?x#y", true),
            ("https://user:word@a.example/", true), ("https://[2001:db8::1]/", true), ("https://例え.jp/", true),
            ("javascript:alert(1)", false), ("//host/path", false), ("/path", false), ("", false), ("http", false),
            ("https://", false), ("http:///path", false), ("https://?x", false), ("https://#x", false),
            ("https://:443/", false), ("https://user@/", false), ("https://user@:80", false), ("https:/a", false),
            ("https:a", false), ("HTTPS://a", false), ("ftp://a/", false), ("httpsx://a", false), (" https://a", false),
            ("https://a b/", false), ("https://a\\b", false), ("https://\u{0}a", false),
            ("https://ABC.example/", true), ("https://abcdefghijklmnop-0123456789.example/a path", true),
            ("https://abcdefghijklmnop-0123456789", true), ("https://abcdefghijklmnopqrstuvwxyz@", false),
            ("https://abcdefghijklmnopqrstuvwxyz.exam ple/", false), ("https://abcdefghijklmnop\\example.jp/", false),
        ])
    func `Only web addresses with a host are URLs`(url: String, isValid: Bool) async throws {
        #expect(WebAddress.isValid(url) == isValid)
        // The URL in a provider's answer.
        let escaped = url.replacing("\\", with: "\\\\").replacing("\u{0}", with: "\\u0000")
        let shop = #"{"id":"J1","name":"n","urls":{"pc":"\#(escaped)"},"photo":{"pc":{"l":"\#(escaped)"}}}"#
        let place = try await Providers.hotpepper(FakeHTTP(#"{"results":{"shop":[\#(shop)]}}"#))
            .ask(Providers.search()).places.first
        #expect(place?.url == (isValid ? url : nil))
        #expect(place?.imageURL == (isValid ? url : nil))
    }

    @Test func `The website replaces a page that is no URL`() async throws {
        let place = #"{"id":"a","googleMapsUri":"javascript:x","websiteUri":"https://a.example/"}"#
        let google = try await Providers.google(FakeHTTP(#"{"places":[\#(place)]}"#)).ask(Providers.search())
        #expect(google.places.first?.url == "https://a.example/")

        let old = #"{"place_id":"a","name":"n","url":"//maps.example/","website":"https://a.example/"}"#
        let legacy = try await Providers.legacy(FakeHTTP(#"{"status":"OK","results":[\#(old)]}"#)).ask(
            Providers.search())
        #expect(legacy.places.first?.url == "https://a.example/")
    }

    /// The same shop, with its numbers and texts as they are and with each character escaped, with a shared layout and without one.
    @Test func `Escapes do not change the values`() async throws {
        func read(_ shops: [String]) async throws -> Places {
            let body = #"{"results":{"shop":[\#(shops.joined(separator: ","))]}}"#
            return try await Providers.hotpepper(FakeHTTP(body)).ask(Providers.search(limit: 100)).places
        }

        var random = SplitMix64(state: 29)
        for _ in 0..<200 {
            let shops = (0..<4).map { index in
                let latitude = Double.random(in: -89...89, using: &random)
                return [
                    "id": "J\(index)", "name": "n \(index)", "lat": "\(latitude)", "lng": "\(Int(latitude)).5",
                    "address": "東京\(index)",
                ]
            }
            // Both lists have the same members in the same order.
            func text(of shop: [String: String], insertion: String = "", _ escape: (UInt16) -> Bool) -> String {
                let members = ["id", "name", "address", "lat", "lng"].map { name in
                    let value = (shop[name] ?? "").utf16.map { unit in
                        escape(unit)
                            ? "\\u" + String(String(0x10000 + Int(unit), radix: 16).dropFirst())
                            : String(decoding: [unit], as: UTF16.self)
                    }
                    return "\"\(name)\":\"\(value.joined())\""
                }
                return "{\(insertion)\(members.joined(separator: ","))}"
            }

            let plain = try await read(shops.map { text(of: $0) { _ in false } })
            #expect(plain.count == 4)
            #expect(plain.contains { $0.location != nil })
            #expect(try await read(shops.map { text(of: $0) { _ in true } }) == plain)
            #expect(try await read(shops.map { text(of: $0, insertion: #""x":[],"#) { _ in true } }) == plain)
            #expect(try await read(shops.map { text(of: $0) { $0 % 2 == 0 } }) == plain)
        }
    }
}
