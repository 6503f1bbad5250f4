import Basics
import HTTPTransport
import JSON
import LocationSearch
import LibC

/// Makes the calls of the Places API (New). One header holds the key, another lists the requested fields. The most
/// expensive field sets the price of the call.
struct GooglePlacesRequests {
    /// The address and the key.
    let configuration: ProviderConfiguration
    let fields: GooglePlacesFields

    /// Returns whether nearby search cannot serve the request: it has no keyword, no filter for open places and no pages.
    static func needsTextSearch(_ request: SearchRequest) -> Bool {
        request.keyword != nil || request.openNow == true || request.pageToken != nil
    }

    func nearby(_ request: SearchRequest) -> HTTPRequest {
        var body = JSONWriter(capacity: 512)
        body.beginObject()
        if request.hasOptions {
            Self.writeTypes(of: request, to: &body)
        } else {
            body.member("includedTypes", [request.category])
        }
        body.member("maxResultCount", min(request.limit, 20))
        body.member("languageCode", request.language)
        if let centre = request.location {
            body.key("locationRestriction")
            body.beginObject()
            body.key("circle")
            body.beginObject()
            body.key("center")
            Self.write(centre, to: &body)
            body.member("radius", request.radiusMeters)
            body.endObject()
            body.endObject()
        }
        body.endObject()
        return post("/v1/places:searchNearby", body: body.finish(), mask: fields.masks(for: request).nearbyMask)
    }

    /// Writes the types and the order of a nearby search.
    private static func writeTypes(of request: SearchRequest, to body: inout JSONWriter) {
        let (wanted, excluded) = (request.wantedCategories, request.options.excludedCategories)
        body.member("includedTypes", wanted.filter { SearchOptions.primaryType(of: $0) == nil })
        body.member("excludedTypes", excluded.filter { SearchOptions.primaryType(of: $0) == nil })
        body.member("includedPrimaryTypes", wanted.compactMap(SearchOptions.primaryType))
        body.member("excludedPrimaryTypes", excluded.compactMap(SearchOptions.primaryType))
        body.member("rankPreference", request.options.ranking.map { $0 == .distance ? "DISTANCE" : "POPULARITY" })
    }

    /// Returns a text search. The API requires that a further page repeats all members of the first request, so they depend
    /// on the request alone.
    func text(_ request: SearchRequest) -> HTTPRequest {
        var body = JSONWriter(capacity: 512)
        body.beginObject()
        let type = request.hasOptions ? request.wantedCategories[0] : request.category
        body.member("textQuery", request.keyword ?? type)
        body.member("includedType", type)
        if request.hasOptions {
            // Without it, the type is only a preference.
            body.member("strictTypeFiltering", request.options.categories.isEmpty ? nil : true)
            body.member("rankPreference", request.options.ranking.map { $0 == .distance ? "DISTANCE" : "RELEVANCE" })
        }
        body.member("pageSize", min(request.limit, 20))
        body.member("languageCode", request.language)
        if request.openNow == true { body.member("openNow", true) }
        if let centre = request.location {
            let (low, high) = Self.box(around: centre, radius: request.radiusMeters)
            body.key("locationRestriction")
            body.beginObject()
            body.key("rectangle")
            body.beginObject()
            body.key("low")
            Self.write(low, to: &body)
            body.key("high")
            Self.write(high, to: &body)
            body.endObject()
            body.endObject()
        }
        body.member("pageToken", request.pageToken)
        body.endObject()
        return post("/v1/places:searchText", body: body.finish(), mask: fields.masks(for: request).textMask)
    }

    /// Returns a call for a place's details.
    func details(_ request: SearchRequest) -> HTTPRequest {
        get(place: request, mask: fields.masks(for: request).detailsMask)
    }

    /// Returns a call for the names of a place's photos, which is free.
    func photoNames(_ request: SearchRequest) -> HTTPRequest { get(place: request, mask: "photos,attributions") }

    /// Returns a call for a place's id, which is free.
    func id(of placeID: String) -> HTTPRequest {
        let request = SearchRequest(requestID: "doctor", operation: .details, placeID: placeID)
        return get(place: request, mask: "id")
    }

    /// Returns a call for the address of a photo.
    /// - Parameter name: `places/ID/photos/REF`, as returned by the provider.
    func media(_ name: String) -> HTTPRequest {
        let path = name.split(separator: "/").map { PercentEncoding.encoded(String($0)) }.joined(separator: "/")
        var url = QueryURL(configuration.baseURL, path: "/v1/\(path)/media")
        url.add("maxWidthPx", 800)
        url.add("skipHttpRedirect", "true")
        return HTTPRequest(url: url.text, headers: [("X-Goog-Api-Key", configuration.apiKey)])
    }

    private func get(place request: SearchRequest, mask: String) -> HTTPRequest {
        var url = QueryURL(configuration.baseURL, path: "/v1/places/\(PercentEncoding.encoded(request.placeID ?? ""))")
        url.add("languageCode", request.language)
        return HTTPRequest(
            url: url.text, headers: [("X-Goog-Api-Key", configuration.apiKey), ("X-Goog-FieldMask", mask)])
    }

    private func post(_ path: String, body: [UInt8], mask: String) -> HTTPRequest {
        HTTPRequest(
            method: .post(body), url: configuration.baseURL + path,
            headers: [
                ("Content-Type", "application/json"), ("X-Goog-Api-Key", configuration.apiKey),
                ("X-Goog-FieldMask", mask),
            ])
    }

    private static func write(_ position: Coordinate, to body: inout JSONWriter) {
        body.beginObject()
        body.member("latitude", (position.latitude * 1e7).rounded() / 1e7)
        body.member("longitude", (position.longitude * 1e7).rounded() / 1e7)
        body.endObject()
    }

    /// Returns the smallest box that contains the circle. Across the date line, `low` is east of `high`.
    /// - Parameter radius: metres.
    static func box(around centre: Coordinate, radius: Double) -> (low: Coordinate, high: Coordinate) {
        let angle = radius / 6_371_008.8
        let north = angle * 180 / .pi
        let (bottom, top) = (centre.latitude - north, centre.latitude + north)

        // A circle that contains a pole crosses every meridian.
        guard bottom > -90, top < 90 else {
            return (
                Coordinate(latitude: max(-90, bottom), longitude: -180),
                Coordinate(latitude: min(90, top), longitude: 180)
            )
        }

        // Meridians touch a circle slightly poleward of its centre, where they are closer to each other.
        let east = asin(min(1, sin(angle) / cos(centre.latitude * .pi / 180))) * 180 / .pi
        func wrapped(_ longitude: Double) -> Double {
            longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
        }
        return (
            Coordinate(latitude: bottom, longitude: wrapped(centre.longitude - east)),
            Coordinate(latitude: top, longitude: wrapped(centre.longitude + east))
        )
    }
}
