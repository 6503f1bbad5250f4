import LocationSearch
import Testing

struct PriceListTests {
    static let google = PriceList.google

    @Test func `Every price class of a Google API has a price, and Hot Pepper has none`() {
        for priceClass in PriceClass.allCases {
            #expect(Self.google.hasPrice(priceClass) == (priceClass.provider != .hotpepper), "\(priceClass)")
        }
    }

    @Test func `Prices never rise with the number of calls`() {
        for (priceClass, entry) in Self.google.entries {
            #expect(entry.tiers.first?.fromCall == 1, "\(priceClass)")
            for (tier, next) in zip(entry.tiers, entry.tiers.dropFirst()) {
                #expect(tier.fromCall < next.fromCall, "\(priceClass)")
                #expect(tier.price >= next.price, "\(priceClass)")
            }
        }
    }

    @Test func `A thousand calls a day of the default fields cost 1,015 dollars in a month of 30 days`() {
        let cost = Self.google.costs(of: [.nearbySearchEnterprise: 30_000])
        #expect(cost.map(\.amount) == [1_015_000_000])
        #expect(cost.map(\.freeCalls) == [1_000])
    }

    @Test(arguments: [
        (calls: 1_000, amount: 0), (1_001, 35_000), (100_000, 3_465_000_000), (100_001, 3_465_028_000),
        (500_001, 14_665_021_000), (6_000_000, 14_665_000_000 + 10_500_000_000 + 42_000_000_000 + 2_630_000_000),
    ])
    func `Calls beyond a volume have its price`(calls: Int, amount: Int) {
        #expect(Self.google.costs(of: [.textSearchEnterprise: calls]).first?.amount == amount)
    }

    @Test func `A class without a known price has no amount`() {
        let cost = Self.google.costs(of: [.hotpepper: 10, .placeDetailsIDsOnly: 10])
        #expect(cost.map(\.amount) == [0, nil])
        #expect(Self.google.price(of: .hotpepper) == 0)
    }

    @Test func `The free calls of each class are one allowance`() {
        let allowances = Self.google.allowances
        #expect(allowances.allSatisfy { $0.priceClasses.count == 1 && $0.pricePerMonth == 0 })
        #expect(allowances.first { $0.priceClasses == [.placeDetailsPro] }?.callsPerMonth == 5_000)
        #expect(!allowances.contains { $0.priceClasses == [.placeDetailsIDsOnly] })
        #expect(Self.google.freeCalls(of: .placeDetailsPro) == 5_000)
    }

    @Test func `Classes of a bundle share its calls, the cheapest first`() {
        var prices = Self.google
        prices.bundles = [
            PriceList.Allowance(
                name: "Pro", callsPerMonth: 250_000, priceClasses: [.textSearchPro, .placeDetailsPro],
                pricePerMonth: 1_200_000_000)
        ]
        #expect(prices.freeCalls(of: .textSearchPro) == 0)
        #expect(prices.allowances.flatMap(\.priceClasses).count { $0 == .textSearchPro } == 1)

        let costs = prices.costs(of: [.textSearchPro: 200_001, .placeDetailsPro: 50_000, .nearbySearchPro: 5_000])
        #expect(costs.map(\.priceClass) == [.nearbySearchPro, .textSearchPro, .placeDetailsPro])
        #expect(costs.map(\.freeCalls) == [5_000, 200_000, 50_000])
        #expect(costs.map(\.amount) == [0, 32_000, 0])
    }

    @Test func `Amounts saturate`() {
        let prices = PriceList(
            date: "", source: "", currency: "USD",
            entries: [
                .hotpepper: PriceList.Entry(
                    freeCallsPerMonth: 0, tiers: [PriceList.Tier(fromCall: 1, price: 1_000_000_000)])
            ])
        #expect(prices.costs(of: [.hotpepper: .max]).map(\.amount) == [.max])
    }
}
