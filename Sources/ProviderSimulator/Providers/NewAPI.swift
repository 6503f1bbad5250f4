internal import JSON
internal import NIOCore
internal import NIOHTTP1

/// Google Places (New): nearby and text searches, details, photos.
struct NewAPI {
    let workshop: Workshop
    let request: IncomingRequest

    private static let pageSize = 20
    private static let limit = 60

    func reply() -> Reply {
        do throws(Refusal) {
            switch request.endpoint {
            case .newNearby: return try search(isText: false)
            case .newText: return try search(isText: true)
            case .newDetails: return try details()
            default: return try photo()
            }
        } catch {
            return Self.refused(error)
        }
    }

    // MARK: Searches

    private func search(isText: Bool) throws(Refusal) -> Reply {
        guard request.method == .POST else { return Reply.page(404, "Not Found") }
        let mask = try mask(isText ? .text : .nearby)
        let search = try NewRequest(request.body, isText: isText)
        try check(search)
        let query = isText ? try textQuery(search) : try nearbyQuery(search)
        let size = (search.count ?? 0) == 0 ? Self.pageSize : min(search.count ?? 0, Self.pageSize)
        var offset = 0
        if !search.pageToken.isEmpty {
            guard let token = PageToken(search.pageToken, seed: workshop.world.seed),
                token.fingerprint == search.fingerprint
            else {
                throw Refusal(
                    message: "Request parameters must match the ones that the page token was made for.",
                    field: "page_token")
            }
            offset = token.offset
        }
        let (hits, total) = workshop.finder.find(query, start: offset, count: min(size, Self.limit - offset))
        let next = offset + hits.count
        let hasMore = isText && next < min(total, Self.limit)
        let fragments = mask.places == nil ? [] : hits.map { fragment($0, search, mask) }
        var tail: [String] = []
        if mask.wantsPageToken, hasMore {
            let token = PageToken(offset: next, fingerprint: search.fingerprint)
            tail.append("  \"nextPageToken\": \"\(token.text(seed: workshop.world.seed))\"")
        }
        if mask.wantsSearchURI { tail.append("  \"searchUri\": \"https://www.google.com/maps/search/\"") }
        return answer(fragments, tail, isEmpty: hits.isEmpty)
    }

    /// A member without a value is left out, `places` too.
    private func answer(_ fragments: [ByteBuffer], _ tail: [String], isEmpty: Bool) -> Reply {
        let outcome = isEmpty ? "empty" : "ok"
        let rest = tail.joined(separator: ",\n")
        guard !fragments.isEmpty else {
            return Reply(Reply.json, tail.isEmpty ? "{}\n" : "{\n\(rest)\n}\n", outcome: outcome)
        }
        var body = workshop.join("{\n  \"places\": [\n    ", fragments, separator: ",\n    ", "\n  ]")
        body.writeString(tail.isEmpty ? "\n}\n" : ",\n\(rest)\n}\n")
        return Reply(Reply.json, body, outcome: outcome)
    }

    private func fragment(_ hit: Hit, _ search: NewRequest, _ mask: NewMask) -> ByteBuffer {
        let isServiceArea = search.serviceAreas && hit.place.hash % 40 == 0
        let isFuture = search.futureOpenings && hit.place.hash % 50 == 1
        let language = PlaceLanguage(search.language)
        let rendering =
            0x3000_0000 | mask.number << 4 | language.rawValue << 2 | (isServiceArea ? 2 : 0) | (isFuture ? 1 : 0)
        return workshop.world.fragment(hit.cell, hit.place, rendering) {
            let writer = NewPlace(
                text: PlaceText(place: hit.place, cell: hit.cell), ids: workshop.world.ids, language: language,
                isServiceArea: isServiceArea, isFuture: isFuture)
            let json = writer.render()
            return JSONLayout.new.lay(mask.places?.applied(to: json) ?? json, depth: 2)
        }
    }

    private func check(_ search: NewRequest) throws(Refusal) {
        if let count = search.count, count < 0 {
            throw Refusal(message: "Result count must not be negative.", field: "max_result_count")
        }
        for (name, tag, longest) in [("languageCode", search.language, 35), ("regionCode", search.region, 2)] {
            let isTag =
                tag.utf8.count <= longest && tag.utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0.isLetterOrDigit }
            guard isTag else { throw Refusal(message: "Invalid \(name): \(tag.prefix(50)).", field: name) }
        }
    }

    private func nearbyQuery(_ search: NewRequest) throws(Refusal) -> PlaceQuery {
        if let count = search.count, count > Self.pageSize {
            throw Refusal(message: "Invalid max_result_count: must be between 1 and 20.", field: "max_result_count")
        }
        guard case .circle(let latitude, let longitude, let radius)? = search.restriction else {
            throw Refusal(message: "Missing location_restriction.circle.", field: "location_restriction")
        }
        guard radius > 0, radius <= 50_000 else {
            throw Refusal(
                message: "Invalid circle radius: must be above 0 and up to 50000.",
                field: "location_restriction.circle.radius")
        }
        let common =
            Set(search.includedTypes).intersection(search.excludedTypes).sorted()
            + Set(search.includedPrimaryTypes).intersection(search.excludedPrimaryTypes).sorted()
        guard common.isEmpty else {
            throw Refusal(message: "Conflicting types: \(common.joined(separator: ", ")).", field: "excluded_types")
        }
        guard ["", "POPULARITY", "DISTANCE", "RANK_PREFERENCE_UNSPECIFIED"].contains(search.rank) else {
            throw Refusal(message: "Invalid value at 'rank_preference' (TYPE_ENUM).", field: "rank_preference")
        }
        var query = PlaceQuery(area: .circle(latitude: latitude, longitude: longitude, radius: radius))
        query.order = search.rank == "DISTANCE" ? .distance : .prominence
        if !search.includedTypes.isEmpty { query.categories &= Self.mask(search.includedTypes, primary: false) }
        if !search.includedPrimaryTypes.isEmpty {
            query.categories &= Self.mask(search.includedPrimaryTypes, primary: true)
        }
        query.categories &= ~Self.mask(search.excludedTypes, primary: false)
        query.categories &= ~Self.mask(search.excludedPrimaryTypes, primary: true)
        return query
    }

    private static func mask(_ types: [String], primary: Bool) -> Category.Mask {
        types.reduce(0) { $0 | Category.mask(ofType: $1, primary: primary) }
    }

    private func textQuery(_ search: NewRequest) throws(Refusal) -> PlaceQuery {
        guard let text = search.textQuery, !text.isEmpty else {
            throw Refusal(message: "Empty text_query.", field: "text_query")
        }
        guard search.bias == nil || search.restriction == nil else {
            throw Refusal(message: "location_bias and location_restriction cannot both be set.", field: "location_bias")
        }
        guard (0...5).contains(search.minRating) else {
            throw Refusal(message: "Invalid min_rating: must be between 0 and 5.", field: "min_rating")
        }
        guard ["", "RELEVANCE", "DISTANCE", "RANK_PREFERENCE_UNSPECIFIED"].contains(search.rank) else {
            throw Refusal(message: "Invalid value at 'rank_preference' (TYPE_ENUM).", field: "rank_preference")
        }
        for level in search.priceLevels where !NewPlace.priceLevels.contains(level) {
            throw Refusal(
                message: "Invalid value at 'price_levels' (TYPE_ENUM), \"\(level.prefix(50))\".", field: "price_levels")
        }
        let match = workshop.keyword(text, lenient: true)
        var query = PlaceQuery(area: try area(of: search, match))
        (query.keyword, query.order) = (match, search.rank == "DISTANCE" ? .distance : .prominence)
        let type = search.includedType
        if !type.isEmpty, !type.hasPrefix("fault:") {
            guard NewTypes.all.contains(type) else {
                throw Refusal(message: "Unsupported types: \(type.prefix(100)).", field: "included_type")
            }
            let mask = Category.mask(ofType: type)
            if search.isStrict { query.categories = mask } else { query.preferred = mask }
        }
        let (needsOpen, rating, levels) = (search.openNow, Int(search.minRating * 10), search.priceLevels)
        query.condition = { place, _ in
            if needsOpen, place.openNow != true || place.status != .operational { return false }
            if rating > 0, place.ratingTenths ?? 0 < rating { return false }
            return levels.isEmpty || place.priceLevel.map { levels.contains(NewPlace.priceLevels[$0]) } ?? false
        }
        return query
    }

    private func area(of search: NewRequest, _ match: KeywordMatch?) throws(Refusal) -> PlaceQuery.Area {
        switch search.restriction ?? search.bias {
        case .rectangle(let south, let west, let north, let east):
            return .box(south: south, west: west, north: north, east: east)
        case .circle(let latitude, let longitude, let radius):
            guard radius >= 0, radius <= 50_000 else {
                throw Refusal(
                    message: "Invalid circle radius: must be from 0 to 50000.", field: "location_bias.circle.radius")
            }
            // A bias: places somewhat outside are found as well.
            return .circle(latitude: latitude, longitude: longitude, radius: max(radius * 1.2, 300))
        case nil:
            let town = Town.all[match?.town ?? 0]
            return .circle(latitude: town.latitude, longitude: town.longitude, radius: PlaceQuery.reach)
        }
    }

    // MARK: Details and photos

    private func details() throws(Refusal) -> Reply {
        guard request.method == .GET else { return Reply.page(404, "Not Found") }
        let mask = try mask(.details)
        let given = QueryParameters.decodePath(request.path.dropFirst("/v1/places/".count))
        // A fault's delay may stand in front of the id.
        let id = given.split(separator: " ").last ?? ""
        let language = PlaceLanguage(request.query["languageCode"])
        switch workshop.world.ids.googlePlace(id) {
        case .malformed: throw Refusal(message: "Not a valid Place ID: \(id.prefix(100))", field: "name")
        case .unknown: return Self.error(.notFound, nil)
        case .place(let known):
            guard let (cell, place) = workshop.world.place(known) else { return Self.error(.notFound, nil) }
            let writer = NewPlace(
                text: PlaceText(place: place, cell: cell), ids: workshop.world.ids, language: language,
                isServiceArea: false, isFuture: false)
            let json = writer.render()
            var body = JSONLayout.new.lay(mask.places?.applied(to: json) ?? json)
            body.writeStaticString("\n")
            return Reply(Reply.json, body)
        }
    }

    private func photo() throws(Refusal) -> Reply {
        guard request.method == .GET else { return Reply.page(404, "Not Found") }
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).map(QueryParameters.decodePath)
        // "", v1, places, id, photos, reference, media
        guard parts.count == 7, parts[4] == "photos" else { return Reply.page(404, "Not Found") }
        var sizes: [String] = []
        for (name, letter) in [("maxWidthPx", "w"), ("maxHeightPx", "h")] {
            guard let text = request.query[name] else { continue }
            guard let size = Int(text), (1...4800).contains(size) else {
                throw Refusal(message: "Invalid \(name): must be between 1 and 4800.", field: name)
            }
            sizes.append("\(letter)\(size)")
        }
        guard !sizes.isEmpty else {
            throw Refusal(message: "At least one of max_width_px and max_height_px must be set.", field: "max_width_px")
        }
        guard let photo = PhotoReferences(workshop.world).find(parts[5]),
            case .place(let place) = workshop.world.ids.googlePlace(parts[3]),
            workshop.world.ids.words(place) == photo.words
        else { throw Refusal(message: "The photo resource in the request is invalid.", field: "name") }
        let link = PhotoReferences.link(photo, size: sizes.joined(separator: "-"))
        guard request.query["skipHttpRedirect"] == "true" else {
            var reply = Reply(
                Reply.html, "<HTML><BODY><A HREF=\"\(link)\">The picture</A></BODY></HTML>\n", status: 302,
                outcome: "ok")
            reply.headers.append(("Location", link))
            return reply
        }
        return Reply(
            Reply.json,
            "{\n  \"name\": \"places/\(parts[3])/photos/\(parts[5])/media\",\n  \"photoUri\": \"\(link)\"\n}\n",
            outcome: "ok")
    }

    private func mask(_ call: NewMask.Call) throws(Refusal) -> NewMask {
        let given =
            request.headers.first(name: "X-Goog-FieldMask") ?? request.query["fields"] ?? request.query["$fields"]
        guard let given, !given.isEmpty else {
            throw Refusal(
                message:
                    "FieldMask is a required parameter. Name the wanted fields in the X-Goog-FieldMask header or in "
                    + "'$fields' (also 'fields') of the URL.")
        }
        return try workshop.newMask(given, call)
    }

    // MARK: Errors

    static func refused(_ refusal: Refusal) -> Reply {
        NewError(code: 400, status: "INVALID_ARGUMENT", message: refusal.message, field: refusal.field).reply
    }

    static func error(_ error: ProviderError, _ hint: RetryHint?) -> Reply { NewError(error, hint).reply }
}

/// Where a text search goes on, and whose it is.
private struct PageToken {
    let offset: Int
    let fingerprint: UInt64

    init(offset: Int, fingerprint: UInt64) {
        (self.offset, self.fingerprint) = (offset, fingerprint)
    }

    /// - Returns: `nil` for a spoilt one.
    init?(_ text: String, seed: UInt64) {
        guard text.utf8.count < 1000, let bytes = Base64URL.decode(text), bytes.count == 28 else { return nil }
        (offset, fingerprint) = (Int(bytes[3]), UInt64(bytes: bytes[4..<12]))
        guard offset < 60, self.text(seed: seed) == text else { return nil }
    }

    func text(seed: UInt64) -> String {
        let check = mixed(fingerprint ^ seed ^ UInt64(offset) << 7)
        let head: [UInt8] = [0x01, 0xEC, 0x4A, UInt8(truncatingIfNeeded: offset)]
        return Base64URL.encode(head + fingerprint.bytes + check.bytes + mixed(check).bytes)
    }
}

extension UInt8 {
    var isLetterOrDigit: Bool {
        let lower = self | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
            || self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9")
    }
}
