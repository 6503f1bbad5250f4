import ArgumentParser
internal import Basics
import LocationSearch

extension BudgetCommand {
    struct EstimateCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "estimate", abstract: "Predicts the calls and the cost of a month, and makes no call.",
            discussion: """
                The SKU of each call follows from googlePlaces.fields, its price from prices.file or Google's list prices.
                A photo counts with its first call. Each page of a search is a request. Retries are not included.

                  locsearch budget estimate --requests 100000 --operation search
                  locsearch budget estimate --requests 200 --per day --operation photo --json
                """)

        @Option(help: "Number of requests, 1 to 1000000000.") var requests: Int
        @Option(help: "Period of that number: month, or day, of which a month has 31.") var per = "month"
        @Option(help: "search, details or photo.") var operation = SearchOperation.search.rawValue
        @Option(help: "google-places, google-places-legacy or hotpepper.") var provider =
            ProviderID.googlePlaces.rawValue
        @Flag(help: "The searches have a keyword, openNow or a pageToken: Google charges them as text searches.")
        var text = false
        @Flag(help: "Prints one JSON object per SKU and line.") var json = false
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws {
            _ = try ProviderID(argument: provider)
            guard (1...1_000_000_000).contains(requests), SearchOperation(rawValue: operation) != nil,
                ["day", "month"].contains(per)
            else {
                throw ValidationError(
                    "--requests takes 1 to 1000000000, --operation search, details or photo, --per day or month")
            }
        }

        func run() async throws {
            let prices = try CallPrices(try await ToolSettings.load(options).settings)
            let request = SearchRequest(
                requestID: "estimate", operation: SearchOperation(rawValue: operation) ?? .search,
                keyword: text ? "text" : nil)
            let classes = prices.classes(of: request, at: try ProviderID(argument: provider))

            let calls = requests.saturatingMultiplied(by: per == "day" ? 31 : 1)
            let costs = prices.list.costs(of: classes.reduce(into: [:]) { $0[$1] = calls })
            let estimate = CostEstimate(prices: prices.list, costs: costs)
            for line in json ? estimate.json : estimate.text { Terminal.line(line) }
        }
    }
}
