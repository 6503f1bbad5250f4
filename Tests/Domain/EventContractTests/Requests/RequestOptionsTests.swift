import LocationSearch
import Testing

@testable import EventContract

/// The members that only some searches need: `categories`, `excludeCategories`, `rankBy` and `include`.
struct RequestOptionsTests {
    private static func request(_ members: String) throws -> SearchRequest {
        try Records.decode(Records.search(with: members)).request
    }

    @Test(arguments: Envelope.allCases)
    func `All options are read`(envelope: Envelope) throws {
        let members = #"""
            "categories":["primary:cafe","primary:bakery"],"excludeCategories":["bar","primary:restaurant"],
            "rankBy":"distance","include":["openingHours","businessStatus"]
            """#
        let request = try Records.decode(Records.search(with: members), in: envelope).request
        #expect(
            request.options
                == SearchOptions(
                    categories: ["primary:cafe", "primary:bakery"], excludedCategories: ["bar", "primary:restaurant"],
                    ranking: .distance, parts: [.businessStatus, .openingHours]))
        #expect(request.category == "cafe")
    }

    @Test(arguments: [
        "", #""categories":null,"excludeCategories":null,"rankBy":null,"include":null"#, #""include":[]"#,
        #""categories":["cafe"],"categories":null"#, #""rankBy":"distance","rankBy":null"#,
    ])
    func `A request without options has none`(members: String) throws {
        let request = try Self.request(members.isEmpty ? #""limit":20"# : members)
        #expect(!request.hasOptions && request.options == SearchOptions() && request.category == "restaurant")
    }

    @Test func `Each order and each part is read by its name`() throws {
        for ranking in SearchOptions.Ranking.allCases {
            #expect(try Self.request(#""rankBy":"\#(ranking.rawValue)""#).options.ranking == ranking)
        }
        for part in SearchOptions.Part.allCases {
            #expect(try Self.request(#""include":["\#(part.rawValue)"]"#).options.parts == [part])
        }
    }

    private static let long = String(repeating: "x", count: 65)
    private static let many = Array(repeating: #""a""#, count: 51).joined(separator: ",")

    static let refused: [(String, String)] = [
        (#""categories":[]"#, "categories"), (#""categories":"cafe""#, "categories"),
        (#""categories":{"0":"cafe"}"#, "categories"), (#""categories":["cafe",null]"#, "categories"),
        (#""categories":["cafe",7]"#, "categories"), (#""categories":[""]"#, "categories"),
        (#""categories":["\ud800"]"#, "categories"), (#""categories":["\#(long)"]"#, "categories"),
        (#""categories":[\#(many)]"#, "categories"), (#""categories":["primary:"]"#, "categories"),
        (#""categories":["primary:cafe","bar"]"#, "categories"),
        (#""category":"cafe","categories":["bar"]"#, "categories"),
        (#""excludeCategories":[]"#, "excludeCategories"), (#""excludeCategories":[[]]"#, "excludeCategories"),
        (#""excludeCategories":[\#(many)]"#, "excludeCategories"),
        (#""excludeCategories":["primary:"]"#, "excludeCategories"),
        (#""excludeCategories":["restaurant"]"#, "excludeCategories"),
        (#""category":"cafe","excludeCategories":["bar","cafe"]"#, "excludeCategories"),
        (#""categories":["primary:cafe"],"excludeCategories":["primary:cafe"]"#, "excludeCategories"),
        (#""rankBy":"rating""#, "rankBy"), (#""rankBy":1"#, "rankBy"), (#""rankBy":["distance"]"#, "rankBy"),
        (#""include":"openingHours""#, "include"), (#""include":["reviews"]"#, "include"),
        (#""include":[1]"#, "include"), (#""include":["openingHours","reviews"]"#, "include"),
    ]
    @Test(arguments: refused)
    func `An invalid option is refused by its name`(members: String, member: String) {
        let error = Records.rejection(of: Records.search(with: members))?.error
        #expect(error?.code == .invalidRequest && error?.member == member)
    }

    @Test(arguments: [
        #""categories":["cafe"],"excludeCategories":["primary:cafe"]"#,
        #""categories":[1],"categories":["cafe"]"#, #""include":["reviews"],"include":["openingHours"]"#,
    ])
    func `A type may be excluded as a primary type only, and the last member counts`(members: String) {
        #expect(throws: Never.self) { try Self.request(members) }
    }

    static let options = [
        SearchOptions(categories: ["cafe", "bar"], excludedCategories: ["pub"], ranking: .popularity),
        SearchOptions(categories: ["primary:ラーメン"], parts: [.openingHours]),
        SearchOptions(excludedCategories: ["primary:cafe"], parts: [.businessStatus, .openingHours]),
    ]
    @Test(arguments: options) func `Encoded options are decoded as the same options`(options: SearchOptions) throws {
        var request = SearchRequest(requestID: "a", location: Coordinate(latitude: 1, longitude: 2))
        request.options = options
        var encoder = RequestEncoder()
        let encoded = encoder.encode(request, at: Outcomes.receivedAt)
        let decoded = try Records.decode(Records.record(encoded.value, headers: encoded.headers)).request
        #expect(decoded.options == options)
    }

    @Test func `Status, opening hours and categories of an outcome are read back`() throws {
        var places: [Place] = []
        for (number, status) in BusinessStatus.allCases.enumerated() {
            var place = Place(id: "p\(number)", provider: .googlePlaces, name: "n")
            place.types = ["cafe", "food"]
            place.business.status = status
            if number > 0 { place.business.openingHours = ["月曜日: 定休日", "火曜日: 9時00分～17時00分"] }
            places.append(place)
        }
        let result = SearchOutcome.Result(
            places: Places(places), attributions: ["x"],
            search: SearchOutcome.Search(
                category: "cafe", location: Coordinate(latitude: 1, longitude: 2), radiusMeters: 3,
                categories: ["cafe", "bar"]))
        let outcome = SearchOutcome(
            requestID: "r", operation: .search, provider: .googlePlaces, result: .success(result))

        var encoder = OutcomeEncoder(seed: 1)
        let encoded = encoder.encode(
            outcome, for: RequestEnvelope(source: Records.source), receivedAt: Outcomes.receivedAt,
            completedAt: Outcomes.completedAt)
        let text = encoded.text
        #expect(text.contains(#""businessStatus":"operational"}"#))
        #expect(text.contains(#""openingHours":["月曜日: 定休日","火曜日: 9時00分～17時00分"]}"#))
        let read = try OutcomeReader().read(value: encoded.value, headers: encoded.headers)
        #expect(read.body == .completed(result))
    }
}
