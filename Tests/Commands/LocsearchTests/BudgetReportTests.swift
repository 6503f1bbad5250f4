import Foundation
import LocationSearch
import QuotaSharing
import Testing

@testable import locsearch

/// The output of `locsearch budget`.
struct BudgetReportTests {
    private let date: Date
    private let calendars: ProviderCalendars

    init() throws {
        date = try Date("2026-11-23T12:00:00Z", strategy: .iso8601)
        calendars = ProviderCalendars([
            .hotpepper: try #require(TimeZone(identifier: "Asia/Tokyo")),
            .googlePlaces: try #require(TimeZone(identifier: "America/Los_Angeles")),
        ])
    }

    private var ledger: BudgetLedger {
        var ledger = BudgetLedger()
        let entry = BudgetMessage.Entry(
            "hotpepper", period: "2026-11-23", limit: 3000, take: 1300,
            made: ["search/hotpepper": 1200, "details/hotpepper": 60])
        ledger.apply(BudgetMessage(sender: "a", number: 1, entries: [entry]), at: 0)
        return ledger
    }

    @Test func `The table shows the used and the remaining calls`() throws {
        let report = BudgetReport(ledger, budgets: [Budget(.googlePlaces, limit: 500)], calendars: calendars, at: date)
        #expect(
            report.text == [
                "account        period      budget   used  reserved   left  used of it  since                 next period in  used up at this rate",
                "google-places  2026-11-23     500      0         0    500         0 %  2026-11-23T08:00:00Z  20h             no",
                "hotpepper      2026-11-23   3,000  1,260        40  1,700        42 %  2026-11-22T15:00:00Z  3h              no",
                "",
                "account    operation  price class  used in the period",
                "hotpepper  search     hotpepper                 1,200",
                "hotpepper  details    hotpepper                    60",
            ])
    }

    @Test(arguments: [(nil, false), (1259, true), (1260, false), (0, true)] as [(Int?, Bool)])
    func `An ordered budget below what is used is told`(limit: Int?, isBelow: Bool) throws {
        let report = BudgetReport(ledger, budgets: [], calendars: calendars, at: date)
        let warning = try #require(report.lines.first).warning(of: limit)
        #expect((warning != nil) == isBelow)
        if isBelow { #expect(warning?.hasPrefix("1,260 of hotpepper are used already: with ") == true) }
    }

    @Test func `The JSON has an object for each provider`() {
        let report = BudgetReport(ledger, budgets: [], calendars: calendars, at: date)
        #expect(
            report.json == [
                """
                {"account":"hotpepper","provider":"hotpepper","unit":"calls","period":"2026-11-23","budget":3000,"used":1260,"reserved":40,"left":1700,\
                "since":"2026-11-22T15:00:00Z","until":"2026-11-23T15:00:00Z",\
                "made":[{"operation":"details","sku":"hotpepper","calls":60},\
                {"operation":"search","sku":"hotpepper","calls":1200}]}
                """
            ])
    }

    /// A percentage refers to the budget that an operator has ordered.
    @Test func `The calls reserved for interactive requests are shown`() {
        var ledger = ledger
        let order = BudgetMessage.Order("hotpepper", period: "2026-11-23", limit: 4000, time: "now")
        ledger.apply(BudgetMessage(sender: "person", number: 1, order: order), at: 1)
        let report = BudgetReport(
            ledger,
            budgets: [Budget(.googlePlaces, limit: 500), Budget(.hotpepper, limit: 3000, reserve: .part(0.1))],
            calendars: calendars, at: date)
        #expect(
            report.text.prefix(3) == [
                "account        period      budget   used  reserved   left  for interactive  used of it  since                 next period in  used up at this rate",
                "google-places  2026-11-23     500      0         0    500                -         0 %  2026-11-23T08:00:00Z  20h             no",
                "hotpepper      2026-11-23   4,000  1,260        40  2,700              400        31 %  2026-11-22T15:00:00Z  3h              no",
            ])
        #expect(report.json.map { $0.contains(#""kept":400"#) } == [false, true])
    }

    @Test func `An order and a reset are shown`() {
        var ledger = ledger
        let order = BudgetMessage.Order(
            "hotpepper", period: "2026-11-23", limit: 4000, isReset: true, time: "2026-11-23T11:59:00Z")
        ledger.apply(BudgetMessage(sender: "person", number: 1, order: order), at: 1)
        let line = BudgetReport(ledger, budgets: [], calendars: calendars, at: date).lines.first
        #expect(line?.limit == 4000)
        #expect(line?.used == 0)
        #expect(line?.reserved == 40)
        #expect(line?.left == 3960)
        #expect(line?.since == "2026-11-23T11:59:00Z")
    }

    @Test func `A month in money shows its forecast and what each price class cost`() throws {
        var budget = Budget(.googlePlaces, limit: 300_000_000, per: .month, unit: .money(currency: "USD"))
        budget.prices = [.textSearchPro: 32_000]
        var ledger = BudgetLedger()
        let entry = BudgetMessage.Entry(
            budget.account, period: "2026-11", limit: budget.limit, take: 230_000_000,
            made: ["search/text-search-pro": 229_984_000])
        ledger.apply(BudgetMessage(sender: "a", number: 1, entries: [entry]), at: 0)
        let report = BudgetReport(ledger, budgets: [budget], calendars: calendars, at: date)
        #expect(
            report.text == [
                "account                  period       budget        used  reserved       left  used of it  since                 next period in  used up at this rate",
                "google-places/month/usd  2026-11  300.00 USD  229.98 USD  0.01 USD  70.00 USD        76 %  2026-11-01T07:00:00Z  7d 20h          2026-11-30T06:15:56Z",
                "",
                "account                  operation  price class      used in the period",
                "google-places/month/usd  search     text-search-pro          229.98 USD",
            ])
        #expect(report.json.first?.contains(#""unit":"USD""#) == true)
        #expect(report.json.first?.contains(#""usedUpAt":"2026-11-30"#) == true)
    }

    /// Free calls are of the month and the whole billing account, so the account of a day does not know them.
    @Test func `The list price of an account's calls is shown`() {
        let budget = Budget(.googlePlaces, limit: 500)
        var ledger = BudgetLedger()
        let made = ["search/text-search-pro": 100, "details/place-details-essentials-ids-only": 7]
        let entry = BudgetMessage.Entry(budget.account, period: "2026-11-23", limit: 500, take: 107, made: made)
        ledger.apply(BudgetMessage(sender: "a", number: 1, entries: [entry]), at: 0)
        let report = BudgetReport(ledger, budgets: [budget], calendars: calendars, at: date)
        #expect(
            report.text.suffix(3) == [
                "account        operation  price class                        used in the period  at the list price",
                "google-places  search     text-search-pro                                   100           3.20 USD",
                "google-places  details    place-details-essentials-ids-only                   7           0.00 USD",
            ])
        #expect(report.json.first?.contains(#""sku":"text-search-pro","calls":100,"costMicros":3200000}"#) == true)
    }

    @Test(arguments: [
        ("google-places", "google-places"), ("google-places/month", "google-places"),
        ("google-places/text-search-pro/month", "google-places"), ("google-places/month/usd", "google-places"),
        ("google-places/text-search-pro/free/month", "google-places"), ("hotpepper", "hotpepper"), ("nobody", nil),
        ("google-places/week", nil), ("google-places/", nil), ("hotpepper/hotpepper", nil),
    ])
    func `An account's name is read back as its budget`(name: String, provider: String?) {
        let budget = Budget(account: name)
        #expect(budget?.provider.rawValue == provider)
        if let budget { #expect(budget.account == name) }
    }

    @Test func `Without budgets, the report names the setting for one`() {
        let report = BudgetReport(BudgetLedger(), budgets: [], calendars: calendars, at: date)
        #expect(report.text.count == 1)
        #expect(report.text.first?.contains("providers.<name>.budgets") == true)
    }
}
