import Foundation
import LocationSearch
import QuotaSharing
import Testing

@testable import locsearch

/// The output of `locsearch budget`.
struct BudgetReportTests {
    private let date: Date
    private let days: ProviderDays

    init() throws {
        date = try Date("2026-11-23T12:00:00Z", strategy: .iso8601)
        days = ProviderDays([
            .hotpepper: try #require(TimeZone(identifier: "Asia/Tokyo")),
            .googlePlaces: try #require(TimeZone(identifier: "America/Los_Angeles")),
        ])
    }

    private var ledger: BudgetLedger {
        var ledger = BudgetLedger()
        let entry = BudgetMessage.Entry(
            "hotpepper", day: "2026-11-23", limit: 3000, take: 1300,
            made: ["search/hotpepper": 1200, "details/hotpepper": 60])
        ledger.apply(BudgetMessage(sender: "a", number: 1, entries: [entry]), at: 0)
        return ledger
    }

    @Test func `The table shows the used and the remaining calls`() throws {
        let report = BudgetReport(ledger, callsPerDay: [.googlePlaces: 500], days: days, at: date)
        #expect(
            report.text == [
                "provider       day         budget   used  reserved   left  used of it  since                 next day in",
                "google-places  2026-11-23     500      0         0    500         0 %  2026-11-23T08:00:00Z  20h",
                "hotpepper      2026-11-23   3,000  1,260        40  1,700        42 %  2026-11-22T15:00:00Z  3h",
                "",
                "provider   operation  price class  calls of the day",
                "hotpepper  search     hotpepper               1,200",
                "hotpepper  details    hotpepper                  60",
            ])
    }

    @Test func `The JSON has an object for each provider`() {
        let report = BudgetReport(ledger, callsPerDay: [:], days: days, at: date)
        #expect(
            report.json == [
                """
                {"provider":"hotpepper","day":"2026-11-23","budget":3000,"used":1260,"reserved":40,"left":1700,\
                "since":"2026-11-22T15:00:00Z","until":"2026-11-23T15:00:00Z",\
                "made":[{"operation":"details","sku":"hotpepper","calls":60},\
                {"operation":"search","sku":"hotpepper","calls":1200}]}
                """
            ])
    }

    /// A percentage refers to the budget that an operator has ordered.
    @Test func `The calls reserved for interactive requests are shown`() {
        var ledger = ledger
        let order = BudgetMessage.Order("hotpepper", day: "2026-11-23", limit: 4000, time: "now")
        ledger.apply(BudgetMessage(sender: "person", number: 1, order: order), at: 1)
        let report = BudgetReport(
            ledger, callsPerDay: [.googlePlaces: 500],
            reserves: [.hotpepper: .part(0.1), .googlePlaces: .calls(0)], days: days, at: date)
        #expect(
            report.text.prefix(3) == [
                "provider       day         budget   used  reserved   left  for interactive  used of it  since                 next day in",
                "google-places  2026-11-23     500      0         0    500                -         0 %  2026-11-23T08:00:00Z  20h",
                "hotpepper      2026-11-23   4,000  1,260        40  2,700              400        31 %  2026-11-22T15:00:00Z  3h",
            ])
        #expect(report.json.map { $0.contains(#""kept":400"#) } == [false, true])
    }

    @Test func `An order and a reset are shown`() {
        var ledger = ledger
        let order = BudgetMessage.Order(
            "hotpepper", day: "2026-11-23", limit: 4000, isReset: true, time: "2026-11-23T11:59:00Z")
        ledger.apply(BudgetMessage(sender: "person", number: 1, order: order), at: 1)
        let line = BudgetReport(ledger, callsPerDay: [:], days: days, at: date).lines.first
        #expect(line?.budget == 4000)
        #expect(line?.used == 0)
        #expect(line?.reserved == 40)
        #expect(line?.left == 3960)
        #expect(line?.since == "2026-11-23T11:59:00Z")
    }

    @Test func `Without budgets, the report names the setting for one`() {
        let report = BudgetReport(BudgetLedger(), callsPerDay: [:], days: days, at: date)
        #expect(report.text.count == 1)
        #expect(report.text.first?.contains("callsPerDay") == true)
    }
}
