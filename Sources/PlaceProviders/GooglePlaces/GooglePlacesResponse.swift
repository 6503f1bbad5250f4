import HTTPTransport
import JSON
import LocationSearch

/// One answer of the Places API (New).
struct GooglePlacesResponse {
    enum Kind {
        /// `places` in an object; `{}` when nothing was found.
        case list
        /// One place, not wrapped.
        case place
        /// A photo's address.
        case media
    }

    var list = PlaceList()
    var nextPageToken: String?
    var photoURL: String?
    /// Of the first photo of a place.
    var photoName: String?
    private var credited: [String] = []

    /// What the terms ask to show: the source, third parties, authors of photos.
    var credits: [String] { ["Google Maps"] + credited }

    static func read(_ response: HTTPResponse, as kind: Kind) throws(SearchError) -> GooglePlacesResponse {
        guard response.status == 200 else { throw GooglePlacesFailure.error(from: response, isForPlace: kind != .list) }
        var page = GooglePlacesResponse()
        do throws(JSONError) {
            try page.read(response.body.span, as: kind)
        } catch {
            throw .badResponse("is no JSON (\(error.kind.rawValue))", from: .googlePlaces)
        }
        if kind == .place, page.list.isHopeless, page.photoName == nil {
            throw .badResponse("has no readable place", from: .googlePlaces)
        }
        return page
    }

    private mutating func read(_ body: Span<UInt8>, as kind: Kind) throws(JSONError) {
        var reader = JSONReader(body)
        guard try reader.kind() == .object else { throw JSONError(.unexpectedByte, at: reader.offset) }
        if kind == .place {
            list.add(try place(&reader))
        } else if try reader.enterObject() {
            while let key = try reader.nextKey() {
                switch key {
                case "places": try readPlaces(&reader)
                case "nextPageToken": nextPageToken = try reader.wanted()
                case "photoUri": photoURL = try reader.wanted().flatMap { $0.hasPrefix("https://") ? $0 : nil }
                default: try reader.skip()
                }
            }
        }
        try reader.finish()
    }

    private mutating func readPlaces(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterArray() else { return }
        while try reader.nextElement() { list.add(try place(&reader)) }
    }

    /// `nil` when it has no id.
    private mutating func place(_ reader: inout JSONReader) throws(JSONError) -> Place? {
        guard try reader.enterObject() else { return nil }
        var place = Place(id: "", provider: .googlePlaces, name: "")
        var (shortAddress, website, primaryName, primaryType): (String?, String?, String?, String?) = (
            nil, nil, nil, nil
        )
        while let key = try reader.nextKey() {
            switch key {
            case "id": place.id = try reader.wanted() ?? ""
            case "displayName": place.name = try reader.wantedMember("text") ?? ""
            case "formattedAddress": place.address = try reader.wanted()
            case "shortFormattedAddress": shortAddress = try reader.wanted()
            case "location": place.location = try reader.coordinate("latitude", "longitude")
            case "types": place.types = try reader.wantedStrings()
            case "primaryType": primaryType = try reader.wanted()
            case "primaryTypeDisplayName": primaryName = try reader.wantedMember("text")
            case "googleMapsUri": place.url = try reader.wanted()
            case "websiteUri": website = try reader.wanted()
            case "rating": place.rating = try reader.lenientDouble().flatMap { $0 >= 1 && $0 <= 5 ? $0 : nil }
            case "userRatingCount": place.ratingCount = try reader.lenientInt().flatMap { $0 >= 0 ? $0 : nil }
            case "priceLevel": place.priceLevel = try Self.priceLevel(&reader)
            case "currentOpeningHours", "regularOpeningHours":
                let isCurrent = "currentOpeningHours" ~= key
                let open = try Self.openNow(&reader)
                if isCurrent || place.openNow == nil { place.openNow = open ?? place.openNow }
            case "photos": try readPhotos(&reader)
            case "attributions": try readCredits(&reader, "provider")
            default: try reader.skip()
            }
        }
        guard !place.id.isEmpty else { return nil }
        if place.name.isEmpty { place.name = place.address ?? shortAddress ?? place.id }
        place.category = primaryName ?? primaryType ?? place.types.first
        place.address = place.address ?? shortAddress
        place.url = place.url ?? website
        return place
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

    private static func openNow(_ reader: inout JSONReader) throws(JSONError) -> Bool? {
        var open: Bool?
        guard try reader.enterObject() else { return nil }
        while let key = try reader.nextKey() {
            if "openNow" ~= key { open = try reader.bool() } else { try reader.skip() }
        }
        return open
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
                    if isFirst { try readCredits(&reader, "displayName") } else { try reader.skip() }
                default: try reader.skip()
                }
            }
            isFirst = false
        }
    }

    /// The named member of each object of a list, each once.
    private mutating func readCredits(_ reader: inout JSONReader, _ member: StaticString) throws(JSONError) {
        guard try reader.enterArray() else { return }
        while try reader.nextElement() {
            if let name = try reader.wantedMember(member), !credited.contains(name) { credited.append(name) }
        }
    }
}
