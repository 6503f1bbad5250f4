internal import Basics
internal import JSON
internal import NIOCore
internal import NIOHTTP1

/// Answers requests to Google Places (New): nearby and text searches, details, and photos.
struct GooglePlacesAPI {
    let resources: LoopResources
    let request: IncomingRequest

    private static let pageSize = 20
    /// The maximum number of places on all pages of a text search together.
    private static let limit = 60

    func reply() -> Reply {
        do throws(InvalidArgument) {
            switch request.endpoint {
            case .placesNearby: return try search(isText: false)
            case .placesText: return try search(isText: true)
            case .placesDetails: return try details()
            default: return try photo()
            }
        } catch {
            return Self.refused(error)
        }
    }

    // MARK: Searches

    private func search(isText: Bool) throws(InvalidArgument) -> Reply {
        guard request.method == .POST else { return Reply.page(404, title: "Not Found") }

        let mask = try mask(for: isText ? .text : .nearby)
        let search = try GooglePlacesSearchBody(request.body, isText: isText)
        try check(search)
        let query = isText ? try textQuery(search) : try nearbyQuery(search)
        let size = (search.count ?? 0) == 0 ? Self.pageSize : min(search.count ?? 0, Self.pageSize)
        let offset = try offset(of: search)
        let (hits, total) = resources.finder.find(query, start: offset, count: min(size, Self.limit - offset))
        let next = offset + hits.count
        let hasMore = isText && next < min(total, Self.limit)

        let fragments = mask.places == nil ? [] : hits.map { fragment(of: $0, for: search, mask: mask) }
        var tail: [String] = []
        if mask.wantsPageToken, hasMore {
            let token = GooglePlacesPageToken(offset: next, fingerprint: search.fingerprint)
            tail.append("  \"nextPageToken\": \"\(token.text(seed: resources.world.seed))\"")
        }

        if mask.wantsSearchURI { tail.append("  \"searchUri\": \"https://www.google.com/maps/search/\"") }
        return answer(fragments, tail: tail, isEmpty: hits.isEmpty)
    }

    /// Returns the number of places on the pages before the requested one.
    private func offset(of search: GooglePlacesSearchBody) throws(InvalidArgument) -> Int {
        if search.pageToken.isEmpty { return 0 }

        guard let token = GooglePlacesPageToken(search.pageToken, seed: resources.world.seed),
            token.fingerprint == search.fingerprint
        else {
            throw InvalidArgument(
                message: "Request parameters must match the ones that the page token was made for.",
                field: "page_token")
        }
        return token.offset
    }

    /// Returns the answer. An empty list of places is omitted, like every member without a value.
    /// - Parameter tail: the members after `places`.
    private func answer(_ fragments: [ByteBuffer], tail: [String], isEmpty: Bool) -> Reply {
        let outcome = isEmpty ? "empty" : "ok"
        let rest = tail.joined(separator: ",\n")
        guard !fragments.isEmpty else {
            return Reply(Reply.json, body: tail.isEmpty ? "{}\n" : "{\n\(rest)\n}\n", outcome: outcome)
        }

        var body = resources.join(
            fragments, head: "{\n  \"places\": [\n    ", separator: ",\n    ", tail: "\n  ]")
        body.writeString(tail.isEmpty ? "\n}\n" : ",\n\(rest)\n}\n")
        return Reply(Reply.json, body: body, outcome: outcome)
    }

    private func fragment(of hit: Hit, for search: GooglePlacesSearchBody, mask: GooglePlacesMask) -> ByteBuffer {
        let isServiceArea = search.text.includesServiceAreas && hit.place.hash % 40 == 0
        let isFuture = search.includesFutureOpenings && hit.place.hash % 50 == 1
        let language = PlaceLanguage(search.language)
        let rendering =
            0x3000_0000 | mask.number << 4 | language.rawValue << 2 | (isServiceArea ? 2 : 0) | (isFuture ? 1 : 0)

        return resources.world.fragment(of: hit.place, in: hit.cell, rendering: rendering) {
            let writer = GooglePlacesPlace(
                text: PlaceText(place: hit.place, cell: hit.cell), ids: resources.world.ids, language: language,
                isServiceArea: isServiceArea, isFuture: isFuture)
            let json = writer.render()
            return JSONLayout.googlePlaces.lay(mask.places?.applied(to: json) ?? json, depth: 2)
        }
    }

    private func check(_ search: GooglePlacesSearchBody) throws(InvalidArgument) {
        if let count = search.count, count < 0 {
            throw InvalidArgument(message: "Result count must not be negative.", field: "max_result_count")
        }
        for (name, tag, longest) in [("languageCode", search.language, 35), ("regionCode", search.region, 2)] {
            let isTag =
                tag.utf8.count <= longest && tag.utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0.isLetterOrDigit }
            guard isTag else { throw InvalidArgument(message: "Invalid \(name): \(tag.prefix(50)).", field: name) }
        }
    }

    private func nearbyQuery(_ search: GooglePlacesSearchBody) throws(InvalidArgument) -> PlaceQuery {
        if let count = search.count, count > Self.pageSize {
            throw InvalidArgument(
                message: "Invalid max_result_count: must be between 1 and 20.", field: "max_result_count")
        }

        guard case .circle(let latitude, let longitude, let radius)? = search.restriction else {
            throw InvalidArgument(message: "Missing location_restriction.circle.", field: "location_restriction")
        }

        guard radius > 0, radius <= 50_000 else {
            throw InvalidArgument(
                message: "Invalid circle radius: must be above 0 and up to 50000.",
                field: "location_restriction.circle.radius")
        }

        let types = search.types
        let common =
            Set(types.included).intersection(types.excluded).sorted()
            + Set(types.includedPrimary).intersection(types.excludedPrimary).sorted()
        guard common.isEmpty else {
            throw InvalidArgument(
                message: "Conflicting types: \(common.joined(separator: ", ")).", field: "excluded_types")
        }

        guard ["", "POPULARITY", "DISTANCE", "RANK_PREFERENCE_UNSPECIFIED"].contains(search.rank) else {
            throw InvalidArgument(message: "Invalid value at 'rank_preference' (TYPE_ENUM).", field: "rank_preference")
        }

        var query = PlaceQuery(area: .circle(latitude: latitude, longitude: longitude, radius: radius))
        query.order = search.rank == "DISTANCE" ? .distance : .prominence
        if !types.included.isEmpty { query.categories &= Self.categories(ofTypes: types.included) }
        if !types.includedPrimary.isEmpty {
            query.categories &= Self.categories(ofTypes: types.includedPrimary, primary: true)
        }

        query.categories &= ~Self.categories(ofTypes: types.excluded)
        query.categories &= ~Self.categories(ofTypes: types.excludedPrimary, primary: true)
        return query
    }

    private static func categories(ofTypes types: [String], primary: Bool = false) -> Category.Mask {
        types.reduce(0) { $0 | Category.mask(ofType: $1, primary: primary) }
    }

    private func textQuery(_ search: GooglePlacesSearchBody) throws(InvalidArgument) -> PlaceQuery {
        let conditions = search.text
        guard let text = conditions.query, !text.isEmpty else {
            throw InvalidArgument(message: "Empty text_query.", field: "text_query")
        }

        guard search.bias == nil || search.restriction == nil else {
            throw InvalidArgument(
                message: "location_bias and location_restriction cannot both be set.", field: "location_bias")
        }

        guard (0...5).contains(conditions.minRating) else {
            throw InvalidArgument(message: "Invalid min_rating: must be between 0 and 5.", field: "min_rating")
        }

        guard ["", "RELEVANCE", "DISTANCE", "RANK_PREFERENCE_UNSPECIFIED"].contains(search.rank) else {
            throw InvalidArgument(message: "Invalid value at 'rank_preference' (TYPE_ENUM).", field: "rank_preference")
        }

        for level in conditions.priceLevels where !GooglePlacesPlace.priceLevels.contains(level) {
            throw InvalidArgument(
                message: "Invalid value at 'price_levels' (TYPE_ENUM), \"\(level.prefix(50))\".", field: "price_levels")
        }

        let match = resources.keyword(text, lenient: true)
        var query = PlaceQuery(area: try area(of: search, near: match))
        (query.keyword, query.order) = (match, search.rank == "DISTANCE" ? .distance : .prominence)
        let type = conditions.type
        if !type.isEmpty, !type.hasPrefix("fault:") {
            guard GooglePlacesTypes.all.contains(type) else {
                throw InvalidArgument(message: "Unsupported types: \(type.prefix(100)).", field: "included_type")
            }
            let mask = Category.mask(ofType: type)
            if conditions.isTypeStrict { query.categories = mask } else { query.preferred = mask }
        }

        let (rating, levels) = (Int(saturating: conditions.minRating * 10), conditions.priceLevels)
        query.condition = { place, _ in
            if conditions.needsOpen, place.openNow != true || place.status != .operational { return false }
            if rating > 0, place.ratingTenths ?? 0 < rating { return false }
            return levels.isEmpty
                || place.priceLevel.map { levels.contains(GooglePlacesPlace.priceLevels[$0]) } ?? false
        }

        return query
    }

    /// Returns the area to search. If the request contains none, this is the town named in the text.
    private func area(
        of search: GooglePlacesSearchBody, near match: KeywordMatch?
    ) throws(InvalidArgument) -> PlaceQuery.Area {
        switch search.restriction ?? search.bias {
        case .rectangle(let south, let west, let north, let east):
            return .box(south: south, west: west, north: north, east: east)
        case .circle(let latitude, let longitude, let radius):
            guard radius >= 0, radius <= 50_000 else {
                throw InvalidArgument(
                    message: "Invalid circle radius: must be from 0 to 50000.", field: "location_bias.circle.radius")
            }
            // The circle is only a bias, so places slightly outside of it are found as well.
            return .circle(latitude: latitude, longitude: longitude, radius: max(radius * 1.2, 300))
        case nil:
            let town = Town.all[match?.town ?? 0]
            return .circle(latitude: town.latitude, longitude: town.longitude, radius: PlaceQuery.reach)
        }
    }

    // MARK: Field masks

    func mask(for call: GooglePlacesMask.Call) throws(InvalidArgument) -> GooglePlacesMask {
        let given =
            request.headers.first(name: "X-Goog-FieldMask") ?? request.query["fields"] ?? request.query["$fields"]
        guard let given, !given.isEmpty else {
            throw InvalidArgument(
                message:
                    "FieldMask is a required parameter. Name the wanted fields in the X-Goog-FieldMask header or in "
                    + "'$fields' (also 'fields') of the URL.")
        }
        return try resources.fieldMask(given, for: call)
    }

    // MARK: Errors

    private static func refused(_ error: InvalidArgument) -> Reply {
        GooglePlacesError(code: 400, status: "INVALID_ARGUMENT", message: error.message, field: error.field).reply
    }

    /// Returns the answer for `error`.
    static func error(_ error: ProviderError, hint: RetryHint? = nil) -> Reply {
        GooglePlacesError(error, hint: hint).reply
    }
}

extension UInt8 {
    /// True for an ASCII letter or digit.
    fileprivate var isLetterOrDigit: Bool {
        let lower = self | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
            || self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9")
    }
}
