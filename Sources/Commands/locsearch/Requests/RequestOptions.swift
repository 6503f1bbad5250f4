import ArgumentParser
internal import Basics
import LocationSearch

/// Every member of a request as an option. Ranges are not checked here, so that the worker's answer to a wrong value
/// can be seen.
struct RequestOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: "Latitude of the position, -90...90.") var lat: Double?
    @Option(parsing: .unconditional, help: "Longitude of the position, -180...180.") var lng: Double?
    @Option(help: "search, details or photo. Default: search, or details with --place-id.") var operation: String?
    @Option(help: "auto, google-places, google-places-legacy or hotpepper.") var provider = "auto"
    @Option(help: "restaurant, hospital, or a type of the provider.") var category = SearchRequest.defaultCategory
    @Option(help: "Instead of --category: types of which each place has one, separated by commas.") var categories:
        String?
    @Option(help: "Types that no place has, separated by commas.") var excludeCategories: String?
    @Option(help: "distance or popularity.") var rankBy: String?
    @Option(help: "businessStatus, openingHours, or both with a comma. Google may charge more.") var include: String?
    @Option(help: "Radius in metres, 1...50000.") var radius = SearchRequest.defaultRadiusMeters
    @Option(help: "Search text, such as ramen.") var keyword: String?
    @Option(help: "Language of the answer, such as ja.") var language: String?
    @Flag(help: "Only places that are open now.") var openNow = false
    @Option(help: "Maximum number of places, 1...100.") var limit = SearchRequest.defaultLimit
    @Option(help: "Continues an earlier search: its nextPageToken.") var pageToken: String?
    @Option(help: "The place, for details and photo.") var placeID: String?
    @Option(help: "A newer search of the same session supersedes an older one.") var session: String?
    @Option(help: "The request's id. Default: a new one.") var requestID: String?
    @Option(
        help:
            "Class of the request, interactive or batch, if its topic allows both. Default: interactive, because the command waits."
    ) var priority: String?
    @Option(help: "The request's own deadline in milliseconds, 1...60000. Default: the worker's.") var timeoutMs: Int?

    /// - Throws: a usage error if the options do not form a request.
    func request() throws -> SearchRequest {
        guard let provider = ProviderChoice(provider) else {
            throw ValidationError("--provider takes auto, google-places, google-places-legacy or hotpepper")
        }

        let operation = operation ?? (placeID == nil ? "search" : "details")
        guard let operation = SearchOperation(rawValue: operation) else {
            throw ValidationError("--operation takes search, details or photo")
        }

        guard operation != .search || (lat != nil && lng != nil) else {
            throw ValidationError("a search needs --lat and --lng")
        }
        guard operation == .search || placeID != nil else { throw ValidationError("\(operation) needs --place-id") }

        var location: Coordinate?
        if let lat, let lng { location = Coordinate(latitude: lat, longitude: lng) }
        var request = SearchRequest(
            requestID: requestID ?? Self.newID(), operation: operation, provider: provider, category: category,
            location: location, radiusMeters: radius, keyword: keyword, language: language,
            openNow: openNow ? true : nil, limit: limit, pageToken: pageToken, placeID: placeID, sessionID: session,
            timeout: timeoutMs.map { .milliseconds($0) })
        request.options = try searchOptions()
        return request
    }

    private func searchOptions() throws -> SearchOptions {
        let ranking = rankBy.flatMap(SearchOptions.Ranking.init)
        guard rankBy == nil || ranking != nil else { throw ValidationError("--rank-by takes distance or popularity") }
        let parts = Self.list(include).map(SearchOptions.Part.init)
        guard parts.allSatisfy({ $0 != nil }) else {
            throw ValidationError("--include takes businessStatus, openingHours, or both with a comma")
        }
        return SearchOptions(
            categories: Self.list(categories), excludedCategories: Self.list(excludeCategories), ranking: ranking,
            parts: Set(parts.compactMap(\.self)))
    }

    private static func list(_ text: String?) -> [String] { text?.split(separator: ",").map(String.init) ?? [] }

    /// - Throws: a usage error if the text is not a class.
    func requestClass() throws -> RequestClass {
        guard let priority else { return .interactive }
        guard let requestClass = RequestClass(rawValue: priority) else {
            throw ValidationError("--priority takes interactive or batch")
        }
        return requestClass
    }

    private static func newID() -> String { "search-" + String(UInt64.random(in: 0...UInt64.max), radix: 36) }
}
