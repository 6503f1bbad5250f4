internal import NIOCore
internal import NIOHTTP1

/// Answers requests to Google Places (New): nearby and text searches, details, and photos.
struct GooglePlacesAPI {
    let resources: LoopResources
    let request: IncomingRequest

    private static let pageSize = 20
    /// The maximum number of places on all pages of a text search together.
    private static let limit = 60

    private var isText: Bool { request.endpoint == .placesText }

    func reply() -> Reply {
        let isSearch = [.placesNearby, .placesText].contains(request.endpoint)
        guard request.method == (isSearch ? .POST : .GET) else { return Reply.page(404, title: "Not Found") }

        do throws(InvalidArgument) {
            if isSearch { return try search() }
            return request.endpoint == .placesDetails ? try details() : try photo()
        } catch {
            return GooglePlacesError.reply(.invalid, message: error.message)
        }
    }

    // MARK: Searches

    private func search() throws(InvalidArgument) -> Reply {
        let mask = try mask(for: isText ? .text : .nearby)
        let search = try GooglePlacesSearchBody(request.body, isText: isText)
        let query = isText ? try textQuery(search) : try nearbyQuery(search)
        let size = (search.count ?? 0) == 0 ? Self.pageSize : min(search.count ?? 0, Self.pageSize)
        let offset = try offset(of: search)
        let left = Self.limit - offset  // bounded: the offset is a byte of our token
        let (hits, total) = resources.finder.find(query, start: offset, count: min(size, left))
        let next = offset + hits.count

        var tail: [String] = []
        if isText, mask.wantsPageToken, next < min(total, Self.limit) {
            let payload = [UInt8(truncatingIfNeeded: next)] + search.fingerprint.bytes  // bounded: two arrays
            tail.append("  \"nextPageToken\": \"\(SealedText.seal(payload, seed: resources.world.seed))\"")
        }
        let fragments = mask.places == nil ? [] : hits.map { fragment(of: $0, for: search, mask: mask) }
        return answer(fragments, tail: tail, isEmpty: hits.isEmpty).billed(mask.sku)
    }

    /// Returns the number of places on the pages before the requested one.
    private func offset(of search: GooglePlacesSearchBody) throws(InvalidArgument) -> Int {
        if search.pageToken.isEmpty { return 0 }

        guard let payload = SealedText.open(search.pageToken, seed: resources.world.seed), payload.count == 9,
            payload[0] < Self.limit, UInt64(bytes: payload[1...]) == search.fingerprint
        else {
            throw InvalidArgument("Request parameters must match the ones that the page token was made for.")
        }
        return Int(payload[0])
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
        let language = PlaceLanguage(search.language)
        let rendering = 0x3000_0000 | mask.number << 2 | language.rawValue
        return resources.world.fragment(of: hit.place, in: hit.cell, rendering: rendering) {
            render(hit.place, in: hit.cell, language: language, mask: mask, depth: 2)
        }
    }

    private func render(
        _ place: SimulatedPlace, in cell: Cell, language: PlaceLanguage, mask: GooglePlacesMask, depth: Int
    ) -> ByteBuffer {
        let text = PlaceText(place: place, cell: cell)
        let json = GooglePlacesPlace(text: text, ids: resources.world.ids, language: language).render()
        return JSONLayout.lay(mask.places?.applied(to: json) ?? json, depth: depth)
    }

    private func nearbyQuery(_ search: GooglePlacesSearchBody) throws(InvalidArgument) -> PlaceQuery {
        if let count = search.count, count > Self.pageSize {
            throw InvalidArgument("Invalid max_result_count: must be between 1 and 20.")
        }

        guard case .circle(_, _, let radius)? = search.area, let area = search.area else {
            throw InvalidArgument("Missing location_restriction.circle.")
        }

        guard radius > 0, radius <= 50_000 else {
            throw InvalidArgument("Invalid circle radius: must be above 0 and up to 50000.")
        }

        var query = PlaceQuery(area: area)
        query.order = search.ranksByDistance ? .distance : .prominence
        try search.types.apply(to: &query)
        return query
    }

    private func textQuery(_ search: GooglePlacesSearchBody) throws(InvalidArgument) -> PlaceQuery {
        guard !search.query.isEmpty else { throw InvalidArgument("Empty text_query.") }

        var query = PlaceQuery(area: search.area ?? .firstTown)
        query.keyword = KeywordMatch(search.query, lenient: true)
        query.order = search.ranksByDistance ? .distance : .prominence
        if !search.type.isEmpty, !search.type.hasPrefix("fault:") {
            guard GooglePlacesTypes.all.contains(search.type) else {
                throw InvalidArgument.unsupportedType(search.type)
            }
            let mask = Category.mask(ofType: search.type)
            if search.isStrict { query.categories = mask } else { query.preferred = mask }
        }
        if search.needsOpen { query.condition = { place, _ in place.openNow == true && place.status == .operational } }
        return query
    }

    // MARK: Details

    private func details() throws(InvalidArgument) -> Reply {
        let mask = try mask(for: .details)
        let given = QueryParameters.decodePath(request.path.dropFirst("/v1/places/".count))

        // A fault and a blank may precede the id.
        let id = given.split(separator: " ").last ?? ""
        switch resources.world.ids.googlePlace(id) {
        case .malformed: throw InvalidArgument("Not a valid Place ID: \(id.prefix(100))")
        case .unknown: return GooglePlacesError.reply(.notFound)
        case .place(let known):
            guard let (cell, place) = resources.world.place(known) else { return GooglePlacesError.reply(.notFound) }
            let language = PlaceLanguage(request.query["languageCode"])
            var body = render(place, in: cell, language: language, mask: mask, depth: 0)
            body.writeStaticString("\n")
            return Reply(Reply.json, body: body).billed(mask.sku)
        }
    }

    private func mask(for call: GooglePlacesTier.Call) throws(InvalidArgument) -> GooglePlacesMask {
        guard let given = request.headers.first(name: "X-Goog-FieldMask"), !given.isEmpty else {
            throw InvalidArgument(
                "FieldMask is a required parameter. Name the wanted fields in the X-Goog-FieldMask header or in "
                    + "'$fields' (also 'fields') of the URL.")
        }
        return try resources.fieldMask(given, for: call)
    }

    // MARK: Photos

    private func photo() throws(InvalidArgument) -> Reply {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).map(QueryParameters.decodePath)

        // The parts are "", v1, places, id, photos, reference, media.
        guard parts.count == 7, parts[4] == "photos" else { return Reply.page(404, title: "Not Found") }

        var sizes: [String] = []
        for (name, letter) in [("maxWidthPx", "w"), ("maxHeightPx", "h")] {
            guard let text = request.query[name] else { continue }
            guard let size = Int(text), (1...4800).contains(size) else {
                throw InvalidArgument("Invalid \(name): must be between 1 and 4800.")
            }
            sizes.append("\(letter)\(size)")
        }
        guard !sizes.isEmpty else {
            throw InvalidArgument("At least one of max_width_px and max_height_px must be set.")
        }

        guard let photo = GooglePhoto(reference: parts[5], in: resources.world),
            case .place(let place) = resources.world.ids.googlePlace(parts[3]),
            resources.world.ids.words(place) == photo.words
        else { throw InvalidArgument("The photo resource in the request is invalid.") }

        let link = photo.link(size: sizes.joined(separator: "-"))
        guard request.query["skipHttpRedirect"] == "true" else {
            return Reply.redirect(to: link).billed("place-details-photos")
        }
        return Reply(
            Reply.json,
            body: "{\n  \"name\": \"places/\(parts[3])/photos/\(parts[5])/media\",\n  \"photoUri\": \"\(link)\"\n}\n"
        ).billed("place-details-photos")
    }
}
