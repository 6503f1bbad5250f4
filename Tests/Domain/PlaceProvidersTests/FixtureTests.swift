import HTTPTransport
import LocationSearch
import Testing

@testable import PlaceProviders

/// Whole answers and the results of decoding them.
struct FixtureTests {
    struct Expected: CustomTestStringConvertible {
        let recorded: RecordedAnswer
        let lines: [String]
        var total: Int?
        var next: String?
        var unreadable = 0

        var testDescription: String { recorded.path }
    }

    private static func expect(
        _ path: String, _ lines: [String], total: Int? = nil, next: String? = nil, unreadable: Int = 0
    ) -> Expected {
        Expected(recorded: RecordedAnswer(path), lines: lines, total: total, next: next, unreadable: unreadable)
    }

    private static let shop =
        "J009900001 · 見本酒場 かくう · 居酒屋 · 35.6909012,139.7002583 · 東京都架空区みほん町１－２－３　見本ビル１Ｆ · - · - · -"
    private static let ramen =
        "ChIJsample-0001 · 拉麺みほん 🍜 · Ramen restaurant · 35.6912345,139.7 · 1 Chome-2-3 Mihoncho, Kakuu City, Tokyo 160-0000, Japan · 4.0/1234 · 1 · open"

    static let hotpepper: [Expected] = [
        expect(
            "hotpepper/gourmet-first-of-two-pages.json",
            [
                shop, "J009900002 · 麺処　みほん · ラーメン · 35.6911,139.7 · 東京都架空区みほん町１－２－３　見本ビル１Ｆ · - · - · -",
                "J009900003 · Café L’Exemple \"2号店\" · カフェ・スイーツ · 35.6899999,139.6987654 · - · - · - · -",
            ], total: 18, next: "4"),
        expect(
            "hotpepper/gourmet-numbers-as-strings.json",
            ["J009900011 · 焼肉みほん 本店 · 焼肉・ホルモン · 34.702485,135.495951 · 東京都架空区みほん町１－２－３　見本ビル１Ｆ · - · - · -"],
            total: 2, next: "2"),
        expect(
            "hotpepper/gourmet-lite.json",
            ["J009900021 · Ｅｘａｍｐｌｅ ＤＩＮＥＲ · 各国料理 · 43.0620958,141.3543763 · 北海道架空市見本1-1 · - · - · -"], total: 1),
        expect(
            "hotpepper/gourmet-partly-readable.json",
            [shop, "J009900002 · 麺処　みほん · ラーメン · - · 東京都架空区みほん町１－２－３　見本ビル１Ｆ · - · - · -"], total: 8,
            unreadable: 6),
        expect("hotpepper/gourmet-nothing-found.json", [], total: 0),
        expect(
            "hotpepper/shop-search.json",
            [
                "J009900041 · Bistro Sample · 洋食 · - · 福岡県架空市1 · - · - · -",
                "J009900042 · さんぷる亭 · - · - · - · - · - · -",
            ], total: 2),
    ]

    static let googlePlaces: [Expected] = [
        expect(
            "google-places-new/search-nearby.json",
            [
                ramen, "ChIJsample-0002 · رستوران نمونه · restaurant · -33.8,151.0 · خیابان نمونه ۱۲ · - · - · -",
                "ChIJsample-0003 · Equator Diner · diner · 0.0,9.4544 · - · 4.9/7 · 4 · closed",
                "ChIJsample-0004 · Van der Sample Plumbing · plumber · - · - · - · - · -",
            ]),
        expect(
            "google-places-new/search-text-with-next-page.json",
            [ramen.replacing("拉麺みほん 🍜", with: "Ramen Mihon")], next: "AeCrKXsample-token_1"),
        expect(
            "google-places-new/search-partly-readable.json",
            [
                "ChIJsample-0004 · Van der Sample Plumbing · plumber · - · - · - · - · -",
                "ChIJsample-0005 · id by name · - · - · - · - · - · -",
            ], unreadable: 4),
        expect("google-places-new/nothing-found.json", []),
        expect("google-places-new/details.json", [ramen]),
        expect("google-places-new/details-name-only.json", ["asked · Only a name · - · - · - · - · - · -"]),
    ]

    static let legacy: [Expected] = [
        expect(
            "google-places-legacy/nearby-first-page.json",
            [
                "ChIJold-locality · Samplebury · locality · 51.5,-0.25 · Samplebury · - · - · -",
                "ChIJold-1 · そば処 みほん · restaurant · 35.69,139.7 · 見本町1-2, 架空区 · 5.0/321 · 0 · open",
                "ChIJold-2 · Closed for now · restaurant · 35.6912,139.71 · 見本町1-2, 架空区 · /0 · - · -",
                "ChIJold-3 · No hours · restaurant · 35.7,139.5 · 3 Sample Road · 4.1/321 · 2 · -",
                "ChIJold-4 · Old hours · restaurant · 35.7,139.25 · 見本町1-2, 架空区 · 4.1/321 · 2 · closed",
            ], next: "AZose0sample-token_1"),
        expect(
            "google-places-legacy/nearby-last-page.json",
            ["ChIJold-9 · 終点 · restaurant · 35.5,139.5 · 見本町1-2, 架空区 · 4.1/321 · 2 · open"]),
        expect(
            "google-places-legacy/partly-readable.json",
            [
                "ChIJold-1 · A · restaurant · 1.0,2.0 · 見本町1-2, 架空区 · 4.1/321 · 2 · open",
                "ChIJold-5 · named by its address · restaurant · 3.0,4.0 · named by its address · 4.1/321 · 2 · open",
            ], unreadable: 4),
        expect("google-places-legacy/zero-results.json", []),
        expect(
            "google-places-legacy/details.json",
            ["ChIJold-1 · そば処 みほん · restaurant · 35.69,139.7 · 日本、〒160-0000 東京都架空区見本町1-2 · 4.1/321 · 2 · closed"]),
        expect("google-places-legacy/details-two-fields.json", ["ChIJold-7 · Sample Station · - · - · - · - · - · -"]),
        expect("google-places-legacy/details-name-only.json", ["asked · Sample Station · - · - · - · - · - · -"]),
    ]

    @Test(arguments: hotpepper + googlePlaces + legacy)
    func `Every place of an answer is read`(expected: Expected) async throws {
        let isDetails = expected.recorded.path.contains("/details")
        let request = isDetails ? Providers.details("asked") : Providers.search(limit: 100)
        let answer = try await expected.recorded.service().ask(request)
        #expect(answer.places.map(\.line) == expected.lines)
        #expect(answer.places.allSatisfy { $0.provider == expected.recorded.provider })
        #expect(answer.totalAvailable == expected.total)
        #expect(answer.nextPageToken == expected.next)
        #expect(answer.unreadablePlaces == expected.unreadable)
        #expect(!answer.attributions.isEmpty)
    }

    @Test(arguments: [
        ("hotpepper/gourmet-lite.json", ["Powered by ホットペッパーグルメ Webサービス", "【画像提供：ホットペッパー グルメ】"]),
        ("hotpepper/gourmet-nothing-found.json", ["Powered by ホットペッパーグルメ Webサービス"]),
        ("google-places-new/search-nearby.json", ["Google Maps", "Sample Listings Ltd", "Jane Sample"]),
        (
            "google-places-legacy/nearby-first-page.json",
            [
                "Google Maps", #"Listings by <a href="https://l.example.com/">Sample</a>"#,
                #"<a href="https://maps.example.com/contrib/7">Ann Sample</a>"#,
            ]
        ),
    ])
    func `Every required attribution is named`(path: String, attributions: [String]) async throws {
        #expect(try await Set(RecordedAnswer(path).service().ask(Providers.search()).attributions) == Set(attributions))
    }

    @Test func `Every fixture is in a table`() throws {
        let answers = (Self.hotpepper + Self.googlePlaces + Self.legacy).map(\.recorded.path)
        let failures = ProviderFailureTests.failures.map(\.recorded.path)
        let others = ["google-places-new/photo-media.json", "google-places-legacy/photo-redirect.html"]
        #expect(try Set(RecordedAnswer.all().map(\.path)) == Set(answers + failures + others))
    }
}
