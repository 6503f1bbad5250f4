internal import Basics
import Console
import JSON
import LocationSearch

/// The predicted calls and cost of a month.
struct CostEstimate {
    let prices: PriceList
    let costs: [PriceList.Cost]

    /// The bundles that contain one of the classes.
    private var bundles: [PriceList.Allowance] {
        prices.bundles.filter { bundle in costs.contains { bundle.priceClasses.contains($0.priceClass) } }
    }

    var text: [String] {
        var table = TextTable([
            "SKU", .right("calls a month"), .right("free"), .right("charged"), .right("price of 1,000"),
            .right("\(prices.currency) a month"),
        ])
        for cost in costs {
            let price = prices.price(of: cost.priceClass).saturatingMultiplied(by: 1000)
            let charge = cost.amount.map { amount in
                [cost.freeCalls.grouped, (cost.calls - cost.freeCalls).grouped]
                    + [PriceList.text(price), PriceList.text(amount)]
            }
            table.add([cost.priceClass.rawValue, cost.calls.grouped] + (charge ?? ["", "", "", "no price"]))
        }
        for bundle in bundles {
            table.add(["bundle \(bundle.name)", "", "", "", "", PriceList.text(bundle.pricePerMonth)])
        }
        let amounts = costs.compactMap(\.amount) + bundles.map(\.pricePerMonth)
        table.add(["total", "", "", "", "", PriceList.text(amounts.reduce(0) { $0.saturatingAdding($1) })])

        return table.lines + [
            "", TerminalText.safe("Prices of \(prices.date) from \(prices.source). Volume prices are included."),
            "Retries are not included: each is one more call of its SKU. Free calls are assumed to be unused.",
        ]
    }

    /// One JSON object for each SKU and bundle. Money is in millionths of the currency.
    var json: [String] {
        let skus = costs.map { cost in JSONWriter.objectText(capacity: 256) { $0.members(of: cost) } }
        let bundles = bundles.map { bundle in
            JSONWriter.objectText(capacity: 128) { json in
                json.member("bundle", bundle.name)
                json.member("calls", bundle.callsPerMonth)
                json.member("costMicros", bundle.pricePerMonth)
                json.member("currency", prices.currency)
            }
        }
        return skus + bundles
    }
}
