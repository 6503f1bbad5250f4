import HTTPTransport
@testable import LocationSearch
import Testing

@testable import PlaceProviders

struct HotpepperTests {
    private static func page(_ shops: String, available: String = "1", more: String = "") -> String {
        #"{"results":{"api_version":"1.30","results_available":\#(available),"results_returned":"9","results_start":1\#(more),"shop":[\#(shops)]}}"#
    }
    /// An invented shop with every relevant member, numbers as strings and as numbers, and the empty or missing members of real answers.
    private static let full = """
        {"id":"J000000011","name":"麺処 \\u307f本","address":"東京都架空区1-2-3","lat":"35.6901","lng":139.7012,"logo_image":"x",
        "genre":{"catch":"","code":"G013","name":"ラーメン"},"sub_genre":{"code":"G001","name":"居酒屋"},
        "food":{"code":"","name":""},"capacity":"","urls":{"pc":"https://shops.example.jp/11/?a=b"},
        "photo":{"mobile":{"l":"https://img.example.jp/m.jpg","s":""},"pc":{"l":"https://img.example.jp/l.jpg","m":"https://img.example.jp/p.jpg","s":""}}}
        """

    @Test func `Every member of a place is read`() async throws {
        let http = FakeHTTP(Self.page(Self.full, available: #""28""#))
        let answer = try await Providers.hotpepper(http).ask(Providers.search(limit: 1))
        #expect(
            answer.places == [
                Place(
                    id: "J000000011", provider: .hotpepper, name: "麺処 み本", category: "ラーメン", types: ["ラーメン", "居酒屋"],
                    location: Coordinate(latitude: 35.6901, longitude: 139.7012), address: "東京都架空区1-2-3",
                    imageURL: "https://img.example.jp/l.jpg", url: "https://shops.example.jp/11/?a=b")
            ])
        #expect(answer.totalAvailable == 28)
        #expect(answer.nextPageToken == "2")
        #expect(answer.radiusMeters == 2000)
        #expect(answer.attributions.count == 2)
    }

    @Test func `A place without a member is read without it`() async throws {
        let shops = """
            {"id":"J000000001","name":"A","lat":"","lng":null,"genre":"","photo":{"pc":{"l":"https://x.example/noimage.gif"}},"urls":[]},
            {"id":"","name":"no id"},{"name":"nor this"},17,null,{"id":"J000000002","name":"B","lat":95,"lng":10},
            {"id":"J000000001","name":"twice"}
            """
        let answer = try await Providers.hotpepper(FakeHTTP(Self.page(shops))).ask(Providers.search())
        #expect(answer.places.map(\.name) == ["A", "B"])
        #expect(answer.places.allSatisfy { $0.location == nil && $0.imageURL == nil && $0.url == nil })
        #expect(answer.unreadablePlaces == 4)
        #expect(answer.attributions == ["Powered by ホットペッパーグルメ Webサービス"])
    }

    /// Few and many places, for which duplicates are found in different ways.
    @Test(arguments: [10, 300])
    func `A repeated place is returned once`(count: Int) async throws {
        let shops = (0..<count).map { #"{"id":"J\#($0)","name":"A"}"# }
        let page = Self.page((shops + shops).joined(separator: ","))
        let answer = try await Providers.hotpepper(FakeHTTP(page)).ask(Providers.search(limit: count))
        #expect(answer.places.map(\.id) == (0..<count).map { "J\($0)" })
    }

    @Test(arguments: [
        (300.0, 1), (301, 2), (500, 2), (1000, 3), (1500, 4), (2000, 4), (2001, 5), (3000, 5), (50000, 5),
    ])
    func `Hot Pepper is asked for the next larger radius`(radius: Double, range: Int) async throws {
        let http = FakeHTTP(Self.page(Self.full))
        _ = try await Providers.hotpepper(http).ask(Providers.search(radius: radius))
        #expect(http.requests[0].url.contains("&range=\(range)&"))
    }

    @Test(
        arguments: [
            ("hospital", nil, nil, "category"), ("restaurant", true, nil, "openNow"),
            ("restaurant", nil, "abc", "pageToken"), ("restaurant", nil, "0", "pageToken"),
            ("restaurant", false, "11", nil), ("G013", nil, nil, nil), ("カフェ・スイーツ", nil, nil, nil),
        ] as [(String, Bool?, String?, String?)])
    func `A search that Hot Pepper does not support is refused without a call`(
        category: String, openNow: Bool?, token: String?, member: String?
    ) {
        let request = Providers.search(category: category, openNow: openNow, pageToken: token)
        #expect(Providers.hotpepper(FakeHTTP("")).refusal(of: request)?.member == member)
    }

    @Test func `The photo of a shop is its picture`() async throws {
        let http = FakeHTTP(Self.page(Self.full))
        let answer = try await Providers.hotpepper(http).ask(Providers.photo("J000000011"))
        #expect(answer.photoURL == "https://img.example.jp/l.jpg")
    }

    /// The answer could be about another shop.
    @Test func `Several ids in one are refused without a call`() {
        let service = Providers.hotpepper(FakeHTTP(Self.page(Self.full)))
        for request in [Providers.details("J000000011,J000000012"), Providers.photo("J000000011,J000000012")] {
            #expect(service.refusal(of: request)?.code == .notFound)
        }
        #expect(service.refusal(of: Providers.details("J000000011")) == nil)
    }

    @Test func `A shop without a picture has no photo`() async {
        let service = Providers.hotpepper(FakeHTTP(Self.page(#"{"id":"J000000012","name":"B"}"#)))
        let error = await service.failure(Providers.photo("J000000012"))
        #expect(error?.code == .notFound && error?.message == "hotpepper has no photo of this place")
    }

    @Test(
        arguments: [("7", 7.0), ("0.5", 0.5), ("99999", 3600), ("-1", nil), ("soon", nil), ("", nil)]
            as [(String, Double?)])
    func `Retry-After is read in seconds`(text: String, seconds: Double?) async {
        let error = await Providers.hotpepper(FakeHTTP(429, "", retryAfter: text)).failure(Providers.search())
        #expect(error?.retryAfter == seconds.map { .seconds($0) })
    }
}
