import HTTPTransport
import JSON
import LocationSearch

/// One answer of the legacy web service. The `status` in its body decides, whatever the HTTP status.
struct LegacyResponse: GoogleAnswer {
    static let provider = ProviderID.googlePlacesLegacy

    /// The fields requested for details: all that the contract's place can hold.
    static let detailsFields =
        "place_id,name,formatted_address,vicinity,geometry/location,types,rating,user_ratings_total,price_level,"
        + "opening_hours/open_now,url,website,photos,business_status"

    private(set) var list = PlaceList()
    private(set) var nextPageToken: String?
    private(set) var photoName: String?
    private var status: String?
    private var message = ""
    private var hasContent = false
    /// The id of a details request, which the answer may omit; `nil` for a search.
    private let asked: String?
    /// Third parties' credits are HTML, which must be shown unchanged.
    private(set) var credits = Credits("Google Maps")

    private init(asked: String?) { self.asked = asked }

    /// Reads an answer.
    /// - Parameter asked: the id of a details request, for which an empty answer means `not-found`; `nil` for a search.
    /// - Throws: the failure in the contract's terms.
    static func read(_ response: HTTPResponse, asked: String?) throws(SearchError) -> LegacyResponse {
        let page: LegacyResponse
        do throws(JSONError) {
            page = try response.readBody { body throws(JSONError) in
                var page = LegacyResponse(asked: asked)
                try page.read(body)
                return page
            }
        } catch {
            guard response.status == 200 else {
                throw SearchError(
                    httpStatus: response.status, of: response, from: .googlePlacesLegacy)
            }
            throw .badResponse("is not JSON (\(error.kind.rawValue))", from: .googlePlacesLegacy)
        }

        guard page.status != nil || response.status == 200 else {
            throw SearchError(httpStatus: response.status, of: response, from: .googlePlacesLegacy)
        }
        if let failure = page.failure(response) { throw failure }
        return page
    }

    private func failure(_ response: HTTPResponse) -> SearchError? {
        func make(_ code: SearchError.Code, _ message: String) -> SearchError {
            SearchError(code, message, httpStatus: response.status, providerStatus: SearchError.name(status))
        }
        switch status {
        case nil: return .badResponse("lacks its status", from: .googlePlacesLegacy)
        case "OK": return hasContent ? nil : .badResponse("lacks its results", from: .googlePlacesLegacy)
        case "ZERO_RESULTS": return asked != nil ? make(.notFound, "this place no longer exists; search again") : nil
        // New projects cannot enable this API. That is the most frequent cause, and it has a different remedy.
        case "REQUEST_DENIED" where message.contains("legacy api"):
            return make(
                .unauthorized, "the API key's project has no access to the legacy Places API; use google-places instead"
            )
        case let status?:
            // OVER_QUERY_LIMIT stands for too many calls per second, for the day's quota, and for missing billing.
            let isDaily = message.contains("daily") || message.contains("billing")
            if let refusal = ProviderRefusal.named(status, isDaily: isDaily) {
                return refusal.error(of: .googlePlacesLegacy, in: response, providerStatus: status)
            }
            // A front end's `"status": "error"` does not come from the API, whose statuses are in capitals.
            let isOfAPI = status.allSatisfy { $0.isUppercase || $0 == "_" }
            if isOfAPI { return make(.upstreamRejected, "google-places-legacy rejected the request") }
            if response.status == 200 { return make(.badResponse, "the answer has no API status; try again") }
            return SearchError(httpStatus: response.status, of: response, from: .googlePlacesLegacy)
        }
    }

    // MARK: - Reading

    private mutating func read(_ body: [UInt8]) throws(JSONError) {
        list = PlaceList(of: body)
        var reader = JSONReader(body.span)
        if try reader.enterObject() {
            while let key = try reader.nextKey() {
                switch key {
                case "status": status = try reader.wanted()
                case "error_message": message = try reader.wanted()?.lowercased() ?? ""
                case "html_attributions": for text in try reader.wantedStrings() { credits.add(text) }
                case "next_page_token": nextPageToken = try reader.wanted()
                case "results", "candidates":
                    guard try reader.enterArray() else { continue }
                    hasContent = true
                    while try reader.nextElement() { list.add(try place(&reader)) }
                case "result":
                    hasContent = try reader.kind() == .object
                    list.add(try place(&reader))
                default: try reader.skip()
                }
            }
        }
        try reader.finish()
    }

    /// Reads one place.
    /// - Returns: `nil` if it has no id.
    private mutating func place(_ reader: inout JSONReader) throws(JSONError) -> Places.Row? {
        guard try reader.enterObject() else { return nil }
        var place = Places.Row(provider: .googlePlacesLegacy)
        var (vicinity, website): (Places.Text?, Places.Text?) = (nil, nil)
        var currentlyOpen: Bool?

        while let key = try reader.nextKey() {
            switch key {
            case "place_id": place.id = try reader.wanted(in: &list.places) ?? Places.Text()
            case "name": place.name = try reader.wanted(in: &list.places) ?? Places.Text()
            case "vicinity": vicinity = try reader.wanted(in: &list.places)
            case "formatted_address": place.address = try reader.wanted(in: &list.places)
            case "geometry":
                place.location = try reader.member("location") { reader throws(JSONError) in
                    try reader.coordinate(latitude: "lat", longitude: "lng")
                }
            case "types": place.types = try reader.wantedTexts(in: &list.places)
            // In some answers 0 stands for "unrated".
            case "rating": place.rating = try reader.lenientDouble().flatMap { $0 >= 1 && $0 <= 5 ? $0 : nil }
            case "user_ratings_total": place.ratingCount = try reader.lenientInt().flatMap { $0 >= 0 ? $0 : nil }
            case "price_level": place.priceLevel = try reader.lenientInt().flatMap { (0...4).contains($0) ? $0 : nil }
            case "business_status": place.business.status = try reader.businessStatus()
            case "opening_hours":
                let open = try reader.usualHours(of: &place, in: &list.places)
                place.openNow = open ?? place.openNow
            // This member includes today's exceptions, so it takes precedence.
            case "current_opening_hours": currentlyOpen = try Self.openNow(&reader)
            case "url": place.url = try reader.wantedURL(in: &list.places)
            case "website": website = try reader.wantedURL(in: &list.places)
            case "photos": try readPhotos(&reader)
            default: try reader.skip()
            }
        }

        if place.id.isEmpty, !place.name.isEmpty { place.id = list.places.add(asked ?? "") }
        guard !place.id.isEmpty else { return nil }

        place.openNow = currentlyOpen ?? place.openNow
        place.address = place.address ?? vicinity
        place.url = place.url ?? website
        if place.name.isEmpty { place.name = place.address ?? place.id }
        place.category = list.places.firstType(of: place)
        return place
    }

    private static func openNow(_ reader: inout JSONReader) throws(JSONError) -> Bool? {
        try reader.member("open_now") { reader throws(JSONError) in try reader.bool() }
    }

    private mutating func readPhotos(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterArray() else { return }
        while try reader.nextElement() {
            guard try reader.enterObject() else { continue }
            while let key = try reader.nextKey() {
                switch key {
                case "photo_reference":
                    let reference = try reader.wanted()
                    if photoName == nil { photoName = reference }
                case "html_attributions": for text in try reader.wantedStrings() { credits.add(text) }
                default: try reader.skip()
                }
            }
        }
    }
}
