import HTTPTransport
import JSON
import LocationSearch

/// One answer of the Places API (New).
struct GooglePlacesResponse: GoogleAnswer {
    static let provider = ProviderID.googlePlaces

    /// The layouts of answers.
    enum Kind {
        /// An object with `places`; `{}` if nothing was found.
        case list
        /// One place that is not wrapped.
        /// - Parameter id: the requested id, which the answer may omit.
        case place(id: String)
        /// The address of a photo.
        case media

        fileprivate var isForPlace: Bool { if case .list = self { false } else { true } }
    }

    private(set) var list = PlaceList()
    private(set) var nextPageToken: String?
    /// The address of a picture.
    private(set) var photoURL: String?
    private(set) var photoName: String?
    private var isError = false
    /// True once a member of the API was read.
    private var isAnswer = false
    /// True once another member was read. An object without members is an answer: proto3's JSON omits empty values.
    private var isForeign = false
    private(set) var credits = Credits("Google Maps")

    /// Reads an answer.
    /// - Throws: the failure in the contract's terms.
    static func read(_ response: HTTPResponse, as kind: Kind) throws(SearchError) -> GooglePlacesResponse {
        guard response.status == 200 else {
            if case .media = kind { return try picture(in: response) }
            throw GooglePlacesFailure.error(from: response, isForPlace: kind.isForPlace)
        }

        let page: GooglePlacesResponse
        do throws(JSONError) {
            page = try response.readBody { body throws(JSONError) in
                var page = GooglePlacesResponse()
                try page.read(body, as: kind)
                return page
            }
        } catch {
            throw .badResponse("is not JSON (\(error.kind.rawValue))", from: .googlePlaces)
        }

        guard !page.isError else { throw GooglePlacesFailure.error(from: response, isForPlace: kind.isForPlace) }
        guard page.isAnswer || !page.isForeign else { throw .badResponse("has no known member", from: .googlePlaces) }
        return page
    }

    /// Reads the answer to a call for a photo if its status is not 200. A redirect to the picture is accepted too. A 403
    /// without an error comes with a picture that shows "over quota".
    private static func picture(in response: HTTPResponse) throws(SearchError) -> GooglePlacesResponse {
        if (300..<400).contains(response.status), let url = response.location, isPicture(url) {
            var page = GooglePlacesResponse()
            page.photoURL = url
            return page
        }

        let error = GooglePlacesFailure.error(from: response, isForPlace: true)
        guard response.status == 403, error.providerStatus == nil,
            response.body.firstMeaningfulByte != UInt8(ascii: "{")
        else { throw error }
        throw .photoQuota(of: .googlePlaces)
    }

    private static func isPicture(_ url: String) -> Bool { url.hasPrefix("https://") && WebAddress.isValid(url) }

    private mutating func read(_ body: [UInt8], as kind: Kind) throws(JSONError) {
        list = PlaceList(of: body)
        var reader = JSONReader(body.span)
        guard try reader.kind() == .object else { throw JSONError(.unexpectedByte, at: reader.offset) }
        if case .place(let id) = kind {
            list.add(try place(&reader, asked: id))
            isAnswer = !list.places.isEmpty || photoName != nil
        } else if try reader.enterObject() {
            while let key = try reader.nextKey() {
                switch key {
                case "places": try readPlaces(&reader)
                case "nextPageToken": nextPageToken = try reader.wanted()
                case "photoUri": photoURL = try reader.wanted().flatMap { Self.isPicture($0) ? $0 : nil }
                case "searchUri", "contextualContents", "routingSummaries": try reader.skip()
                default:
                    try skipForeign(key, in: &reader)
                    continue
                }
                isAnswer = true
            }
        }
        try reader.finish()
    }

    /// Skips a member that does not belong to the API. A member `error` marks the answer as an error for `GooglePlacesFailure`.
    private mutating func skipForeign(_ key: borrowing JSONText, in reader: inout JSONReader) throws(JSONError) {
        isForeign = true
        if "error" ~= key, try reader.kind() == .object { isError = true }
        try reader.skip()
    }

    private mutating func readPlaces(_ reader: inout JSONReader) throws(JSONError) {
        // In proto3's JSON, null may stand for an empty list. A value of any other type is a fault.
        if try reader.skipNull() { return }
        guard try reader.enterArray() else { return list.add(nil) }
        while try reader.nextElement() { list.add(try place(&reader)) }
    }

    /// Reads one place.
    /// - Parameter asked: the requested id, for a place without an id but with other content.
    /// - Returns: `nil` if it has no id.
    private mutating func place(_ reader: inout JSONReader, asked: String? = nil) throws(JSONError) -> Places.Row? {
        guard try reader.enterObject() else { return nil }
        var place = Places.Row(provider: .googlePlaces)
        var (resource, shortAddress, website): (Places.Text?, Places.Text?, Places.Text?) = (nil, nil, nil)
        var (primaryName, primaryType): (Places.Text?, Places.Text?) = (nil, nil)

        while let key = try reader.nextKey() {
            switch key {
            case "id": place.id = try reader.wanted(in: &list.places) ?? Places.Text()
            case "name": resource = try reader.wanted(in: &list.places)
            case "displayName": place.name = try reader.wantedMember("text", in: &list.places) ?? Places.Text()
            case "formattedAddress": place.address = try reader.wanted(in: &list.places)
            case "shortFormattedAddress": shortAddress = try reader.wanted(in: &list.places)
            case "location": place.location = try Self.location(&reader)
            case "types": place.types = try reader.wantedTexts(in: &list.places)
            case "primaryType": primaryType = try reader.wanted(in: &list.places)
            case "primaryTypeDisplayName": primaryName = try reader.wantedMember("text", in: &list.places)
            case "googleMapsUri": place.url = try reader.wantedURL(in: &list.places)
            case "websiteUri": website = try reader.wantedURL(in: &list.places)
            case "rating": place.rating = try reader.lenientDouble().flatMap { $0 >= 1 && $0 <= 5 ? $0 : nil }
            case "userRatingCount": place.ratingCount = try reader.lenientInt().flatMap { $0 >= 0 ? $0 : nil }
            case "priceLevel": place.priceLevel = try Self.priceLevel(&reader)
            case "currentOpeningHours":
                let open = try reader.member("openNow") { reader throws(JSONError) in try reader.bool() }
                place.openNow = open ?? place.openNow
            case "regularOpeningHours":
                let open = try reader.usualHours(of: &place, in: &list.places)
                place.openNow = place.openNow ?? open
            case "businessStatus": place.business.status = try reader.businessStatus()
            case "photos": try readPhotos(&reader)
            case "attributions": try readCredits(&reader, member: "provider")
            default: try skipForeign(key, in: &reader)
            }
        }

        if place.id.isEmpty, let resource, list.places.hasPrefix(resource, "places/") {
            place.id = resource.dropFirst(7)
        }
        if place.id.isEmpty, !place.name.isEmpty || place.address != nil { place.id = list.places.add(asked ?? "") }
        guard !place.id.isEmpty else { return nil }

        if place.name.isEmpty { place.name = place.address ?? shortAddress ?? place.id }
        place.category = primaryName ?? primaryType ?? list.places.firstType(of: place)
        place.address = place.address ?? shortAddress
        place.url = place.url ?? website
        return place
    }

    /// Reads a position. A missing member is 0, because proto3's JSON omits zeros, as on the equator.
    private static func location(_ reader: inout JSONReader) throws(JSONError) -> Coordinate? {
        var (latitude, longitude): (Double?, Double?) = (0, 0)
        var isEmpty = true
        guard try reader.enterObject() else { return nil }

        while let key = try reader.nextKey() {
            switch key {
            case "latitude": (latitude, isEmpty) = (try reader.lenientDouble(), false)
            case "longitude": (longitude, isEmpty) = (try reader.lenientDouble(), false)
            default: try reader.skip()
            }
        }
        return isEmpty ? nil : Coordinate(latitude: latitude, longitude: longitude)
    }

    private static func priceLevel(_ reader: inout JSONReader) throws(JSONError) -> Int? {
        guard let text = try reader.text() else { return nil }
        switch text {
        case "PRICE_LEVEL_FREE": return 0
        case "PRICE_LEVEL_INEXPENSIVE": return 1
        case "PRICE_LEVEL_MODERATE": return 2
        case "PRICE_LEVEL_EXPENSIVE": return 3
        case "PRICE_LEVEL_VERY_EXPENSIVE": return 4
        default: return nil
        }
    }

    private mutating func readPhotos(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterArray() else { return }
        var isFirst = true
        while try reader.nextElement() {
            guard try reader.enterObject() else { continue }
            while let key = try reader.nextKey() {
                switch key {
                case "name": if isFirst { photoName = try reader.wanted() } else { try reader.skip() }
                case "authorAttributions":
                    if isFirst { try readCredits(&reader, member: "displayName") } else { try reader.skip() }
                default: try reader.skip()
                }
            }
            isFirst = false
        }
    }

    /// Adds one member of each object in a list to the credits.
    private mutating func readCredits(_ reader: inout JSONReader, member: StaticString) throws(JSONError) {
        guard try reader.enterArray() else { return }
        while try reader.nextElement() {
            if let name = try reader.wantedMember(member) { credits.add(name) }
        }
    }
}
