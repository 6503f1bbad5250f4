import Console
import LocationSearch
import TestSupport
import Testing

@testable import EventContract
@testable import locsearch

/// The SKUs and the cost of calls: `locsearch budget estimate`, and the cost that `explain` shows.
struct CostEstimateTests {
    private static func prices(fields: String = "enterprise") throws -> CallPrices {
        try CallPrices(try Settings.load(flags: ["googlePlaces.fields": fields], file: nil, environment: [:]))
    }

    @Test(arguments: [
        ("enterprise", SearchOperation.search, ProviderID.googlePlaces, [PriceClass.nearbySearchEnterprise]),
        ("pro", .search, .googlePlaces, [.nearbySearchPro]),
        ("essentials", .details, .googlePlaces, [.placeDetailsEssentials]),
        ("enterprise", .photo, .googlePlaces, [.placeDetailsIDsOnly, .placeDetailsPhotos]),
        ("enterprise", .search, .googlePlacesLegacy, [.legacyNearbySearch]),
        ("enterprise", .photo, .googlePlacesLegacy, [.legacyPlaceDetails, .legacyPlacePhoto]),
        ("enterprise", .photo, .hotpepper, [.hotpepper]),
    ])
    func `An operation's calls have the SKUs of the settings`(
        fields: String, operation: SearchOperation, provider: ProviderID, expected: [PriceClass]
    ) throws {
        let request = SearchRequest(requestID: "r", operation: operation)
        #expect(try Self.prices(fields: fields).classes(of: request, at: provider) == expected)
    }

    private static func run(_ arguments: String) async throws -> RunningProgram {
        let words = ["budget", "estimate"] + arguments.split(separator: " ").map(String.init)
        return try await RunningProgram.run(words, environment: ["KAFKA_BOOTSTRAP_SERVERS": "localhost:1"])
    }

    @Test func `The table shows calls, free calls and money of a month`() async throws {
        let shown = try await Self.run("--requests 100000 --operation search")
        #expect(
            shown.output.split(separator: "\n").prefix(3) == [
                "SKU                       calls a month   free  charged  price of 1,000  USD a month",
                "nearby-search-enterprise        100,000  1,000   99,000           35.00     3,465.00",
                "total                                                                       3,465.00",
            ], "\(shown.output)\(shown.error)")
        #expect(shown.output.contains("Prices of 2026-09-24 from https://developers.google.com/"))
        #expect(shown.output.contains("Retries are not included"))
    }

    @Test func `A photo counts both calls, and a day counts 31 times`() async throws {
        let shown = try await Self.run("--requests 200 --per day --operation photo --json")
        #expect(
            shown.output.split(separator: "\n") == [
                #"{"sku":"place-details-essentials-ids-only","calls":6200,"freeCalls":6200,"costMicros":0,"currency":"USD"}"#,
                #"{"sku":"place-details-photos","calls":6200,"freeCalls":1000,"costMicros":36400000,"currency":"USD"}"#,
            ], "\(shown.output)\(shown.error)")
    }

    @Test func `A provider without a price has none in the table`() async throws {
        let shown = try await Self.run("--requests 5 --provider hotpepper")
        #expect(shown.output.contains("hotpepper              5     no price"), "\(shown.output)\(shown.error)")
    }

    @Test(arguments: ["--requests 0", "--requests 5 --operation look", "--requests 5 --provider bing", "--per day"])
    func `Wrong usage ends with code 64`(arguments: String) async throws {
        let shown = try await Self.run(arguments)
        #expect(shown.code == 64, "\(shown.output)\(shown.error)")
    }

    @Test func `A bundle's own price is in the total`() {
        var list = PriceList.google
        list.bundles = [
            PriceList.Allowance(
                name: "Pro", callsPerMonth: 250_000, priceClasses: [.textSearchPro], pricePerMonth: 1_200_000_000)
        ]
        let estimate = CostEstimate(prices: list, costs: list.costs(of: [.textSearchPro: 300_000]))
        #expect(estimate.text[1].hasSuffix("250,000   50,000           32.00     1,600.00"), "\(estimate.text)")
        #expect(estimate.text[3].hasSuffix(" 2,800.00"), "\(estimate.text)")
        #expect(estimate.json.last == #"{"bundle":"Pro","calls":250000,"costMicros":1200000000,"currency":"USD"}"#)
    }

    @Test(arguments: [
        (0, "0.00"), (380, "0.00038"), (2_630, "0.00263"), (35_000, "0.035"), (1_015_000_000, "1,015.00"),
    ])
    func `Money has two to six digits after the point`(micros: Int, expected: String) {
        #expect(PriceList.text(micros) == expected)
    }

    // MARK: - Charges of an outcome

    private static func charges(
        operation: String = "search", provider: String? = "google-places", attempts: Int?,
        tried: [String] = [], steps: String? = nil, isCompleted: Bool = true
    ) throws -> [String] {
        let source = SourcePosition(topic: "requests", partition: 0, offset: 1)
        var life = RequestLife(source: source)
        let value =
            #"{"requestId":"r","operation":"\#(operation)","placeId":"p","location":{"latitude":1,"longitude":2}}"#
        life.request = RequestLife.Request(time: nil, key: nil, value: Array(value.utf8), headers: [], requestID: "r")

        var event = OutcomeEvent(requestID: "r", body: .completed(SearchOutcome.Result()))
        event.provider = provider
        event.attempts = attempts
        event.triedProviders = tried
        event.steps = steps.map { OutcomeEvent.Steps(text: Array($0.utf8)) }
        life.outcomes = [RequestLife.Outcome(position: source, time: nil, byteCount: 0, event: event)]
        return try prices().charges(of: life, decoder: RequestDecoder()).map {
            "\($0.calls) \($0.priceClass.rawValue) \($0.amount ?? -1)"
        }
    }

    @Test func `A search costs as many calls as it made`() throws {
        #expect(try Self.charges(attempts: 2) == ["2 nearby-search-enterprise 70000"])
        #expect(try Self.charges(attempts: 0) == [])
        #expect(try Self.charges(attempts: nil) == [])
        #expect(try Self.charges(attempts: .max) == [])
    }

    @Test func `A photo's further calls count as the dearer ones`() throws {
        let free = "1 place-details-essentials-ids-only 0"
        #expect(try Self.charges(operation: "photo", attempts: 1) == [free])
        #expect(try Self.charges(operation: "photo", attempts: 2) == [free, "1 place-details-photos 7000"])
        #expect(try Self.charges(operation: "photo", attempts: 3) == [free, "2 place-details-photos 14000"])
    }

    @Test func `Steps tell the calls to several providers`() throws {
        let tried = ["hotpepper", "google-places"]
        #expect(try Self.charges(attempts: 3, tried: tried) == [])
        let steps = "call hotpepper 0+5 timeout; call hotpepper 5+5 timeout; call google-places 10+5 ok"
        #expect(try Self.charges(attempts: 3, tried: tried, steps: steps) == ["1 nearby-search-enterprise 35000"])
    }

    @Test func `A provider without a price has no charge`() throws {
        #expect(try Self.charges(provider: "hotpepper", attempts: 2) == [])
        #expect(try Self.charges(provider: "unknown", attempts: 2) == [])
    }
}
