import Foundation
import LocationSearch
import TestSupport
import Testing

@testable import locsearch

/// The file of the setting `prices.file`.
struct PriceFileTests {
    private static let sample = Repository.folder.appending(path: "ops/prices.json")

    private func prices(_ path: String) throws -> PriceList {
        let settings = try Settings.load(flags: ["prices.file": path], file: nil, environment: [:])
        return try settings.prices()
    }

    /// Reads the sample after some of its text was replaced.
    private func prices(replacing old: String, with new: String) throws -> PriceList {
        let text = try String(contentsOf: Self.sample, encoding: .utf8)
        #expect(text.contains(old), "\(old)")
        let path = try SettingsFolder.write(text.replacing(old, with: new), as: "prices.json")
        defer { SettingsFolder.remove(path) }
        return try prices(path)
    }

    @Test func `The sample has the prices that apply without a file`() throws {
        #expect(try prices(Self.sample.path) == .google)
        #expect(try Settings.load(flags: [:], file: nil, environment: [:]).prices() == .google)
    }

    @Test func `A bundle's SKUs share its calls`() throws {
        let bundle =
            #""bundles": {"Pro": {"callsPerMonth": 250000, "pricePerMonth": 1200, "skus": ["text-search-pro"]}}"#
        let list = try prices(replacing: #""skus": {"#, with: bundle + #", "skus": {"#)
        #expect(
            list.bundles == [
                PriceList.Allowance(
                    name: "Pro", callsPerMonth: 250_000, priceClasses: [.textSearchPro], pricePerMonth: 1_200_000_000)
            ])
    }

    /// A project whose quota Google has raised states it in the file.
    @Test func `A file may replace the quota of a method`() throws {
        let quota = try prices(replacing: #""searchText": 600"#, with: #""searchText": 6000"#).quota
        #expect(quota.callsPerMinute[.searchText] == 6000 && quota.callsPerMinute[.details] == 600)
    }

    @Test func `A file may be YAML, with its prices in any order`() throws {
        var lines = ["date: today", "source: contract", "currency: EUR", "skus:"]
        for priceClass in PriceClass.allCases {
            lines.append("  \(priceClass.rawValue): {prices: {5001: 0.38, 1: 4}, freeCallsPerMonth: 7}")
        }
        let path = try SettingsFolder.write(lines.joined(separator: "\n"), as: "prices.yaml")
        defer { SettingsFolder.remove(path) }

        let list = try prices(path)
        #expect(list.currency == "EUR")
        #expect(list.freeCalls(of: .hotpepper) == 7 && list.price(of: .hotpepper) == 4_000)
        #expect(list.entries[.textSearchPro]?.tiers.last == PriceList.Tier(fromCall: 5_001, price: 380))
    }

    private static let pro = #""text-search-pro": {"freeCallsPerMonth": 5000, "prices": {"1": 32"#

    @Test(arguments: [
        (#""currency": "USD","#, "", "date, source or currency is missing"),
        (
            #""currency": "USD""#, #""currencies": "USD""#,
            "line 4: currencies: expected date, source, currency, skus, bundles or"
        ),
        (
            pro, pro.replacing("text-search-pro", with: "text-search"),
            "skus.text-search.freeCallsPerMonth: expected one of"
        ),
        (pro, pro.replacing("5000", with: "1.5"), "freeCallsPerMonth: expected an integer from 0 to 1000000000"),
        (
            pro, pro.replacing("32", with: "20"),
            "skus.text-search-pro.prices: expected a price from call 1 on, never ri"
        ),
        (pro, pro.replacing("\"1\"", with: "\"2\""), "skus.text-search-pro.prices: expected a price from call 1 on"),
        (pro, pro.replacing("\"1\"", with: "\"a\""), "skus.text-search-pro.prices.a: expected an integer from 0"),
        (pro, pro.replacing("32", with: "-1"), "skus.text-search-pro.prices.1: expected a number from 0 to 1000000"),
        (pro, pro.replacing("\"prices\"", with: "\"price\""), "expected freeCallsPerMonth, or prices with a mapping"),
        (#""skus": {"#, #""bundles": {"a": {"skus": "text-search-pro"}}, "skus": {"#, "expected callsPerMonth in each"),
        (#""skus": {"#, #""bundles": {"a": {"skus": "x"}}, "skus": {"#, "bundles.a.skus: expected one of"),
        (
            #""skus": {"#, #""bundles": {"a": {"callsPerMonth": "x"}}, "skus": {"#,
            "a.callsPerMonth: expected an integer"
        ),
        (
            #""skus": {"#, #""bundles": {"a": {"callsPerMonth": 1, "skus": [hotpepper, hotpepper]}}, "skus": {"#,
            "an SKU in one bundle only"
        ),
        (#""searchText": 600"#, #""search": 600"#, "quota.callsPerMinute.search: expected one of searchNearby"),
        (#""searchText": 600"#, #""searchText": -1"#, "quota.callsPerMinute.searchText: expected an integer from 0"),
        (#""callsPerMinute""#, #""callsPerSecond""#, "expected date, source, currency, skus, bundles or quota"),
        (#""skus": {"#, #""skus": ["#, "is not valid YAML"),
    ])
    func `A fault is named with the file and its place`(old: String, new: String, expected: String) {
        let error = #expect(throws: SettingsError.self) { try prices(replacing: old, with: new) }
        let text = error?.description ?? ""
        #expect(text.hasPrefix("prices.file: ") && text.contains("prices.json") && text.contains(expected), "\(text)")
        #expect(!text.contains("\n"))
    }

    @Test func `A missing file is refused before a worker starts`() throws {
        let settings = try Settings.load(flags: ["prices.file": "/nowhere"], file: nil, environment: [:])
        let error = #expect(throws: SettingsError.self) { try settings.validate() }
        #expect(error?.description == "prices.file: the settings file /nowhere cannot be read: it does not exist")
    }
}
