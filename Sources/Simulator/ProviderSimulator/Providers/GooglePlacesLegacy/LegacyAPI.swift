internal import JSON
internal import NIOCore
internal import NIOHTTP1

/// Answers requests to Google's older Places API: nearby, text and find searches, details, and photos.
struct LegacyAPI {
    let resources: LoopResources
    let request: IncomingRequest

    private var query: QueryParameters { request.query }

    func reply() -> Reply {
        guard request.method == .GET else { return Reply.page(405, title: "Method Not Allowed") }
        switch request.endpoint {
        case .legacyNearby: return search(isText: false)
        case .legacyText: return search(isText: true)
        case .legacyFind: return find()
        case .legacyDetails: return details()
        default: return photo()
        }
    }

    // MARK: Searches

    private func search(isText: Bool) -> Reply {
        let now = NIODeadline.now().uptimeNanoseconds
        guard let token = query["pagetoken"], !token.isEmpty else {
            guard let search = LegacySearch(query, isText: isText, resources: resources) else {
                return Self.status("INVALID_REQUEST")
            }
            return page(of: search, now: now)
        }

        let delay = resources.configuration.pageTokenDelay
        guard case .search(let search) = LegacySearch.read(token, seed: resources.world.seed, now: now, delay: delay)
        else {
            // A token used too early gets the same answer as a damaged one, including the header that makes caches
            // store it.
            var refusal = Self.status("INVALID_REQUEST")
            refusal.headers.append(("Cache-Control", "public, max-age=300"))
            return refusal
        }

        return page(of: search, now: now)
    }

    private func page(of search: LegacySearch, now: UInt64) -> Reply {
        let size = LegacySearch.pageSize

        // Occasionally the last place of a page is repeated at the beginning of the next one.
        let repeats = search.offset > 0 && search.salt & 7 == 0
        let start = repeats ? search.offset - 1 : search.offset  // bounded: an offset is 0 to 60
        let (found, total) = resources.finder.find(
            search.placeQuery(with: resources), start: start, count: size)
        var hits = found.map { ($0.cell, $0.place) }
        if let town = locality(of: search) { hits = Array([[town], hits].joined().prefix(size)) }
        guard !hits.isEmpty else { return Self.status("ZERO_RESULTS") }

        var next = search
        next.offset += size  // bounded: as above
        let hasMore = next.offset < min(total, LegacySearch.limit)
        let token = hasMore ? next.token(seed: resources.world.seed, now: now) : nil
        let language = PlaceLanguage(search.language)
        let fragments = hits.map { fragment(of: $0.1, in: $0.0, language: language, isText: search.isText) }
        let head = Self.head(salt: search.salt, nextPageToken: token)
        return Reply(
            Reply.json, body: resources.join(fragments, head: head, separator: ",\n      ", tail: Self.tail))
    }

    /// Returns the town itself, which may be the first result of a search without type and keyword; `nil` for other
    /// searches.
    private func locality(of search: LegacySearch) -> (Cell, SimulatedPlace)? {
        guard search.offset == 0, search.type.isEmpty, search.keyword.isEmpty, search.salt & 1 == 0 else { return nil }
        let id = CellID(row: CellID.row(search.latitude), column: CellID.column(search.longitude))
        guard !resources.world.cell(id).places.isEmpty else { return nil }
        return resources.world.place(PlaceIDs.Place(cell: id, slot: PlaceIDs.localitySlot))
    }

    private static func head(salt: UInt64, nextPageToken token: String?) -> String {
        // One search in sixteen contains listings of a third party, which must be credited.
        let credit =
            salt >> 8 & 15 == 0
            ? "[ \"Listings by \\u003ca href=\\\"https://listings.example/\\\"\\u003eTown Listings\\u003c/a\\u003e\" ]"
            : "[]"
        let page = token.map { "   \"next_page_token\" : \"\($0)\",\n" } ?? ""
        return "{\n   \"html_attributions\" : \(credit),\n\(page)   \"results\" : [\n      "
    }

    private static let tail: StaticString = "\n   ],\n   \"status\" : \"OK\"\n}\n"

    private func fragment(
        of place: SimulatedPlace, in cell: Cell, language: PlaceLanguage, isText: Bool
    ) -> ByteBuffer {
        let rendering = 0x2000_0000 | language.rawValue << 1 | (isText ? 1 : 0)
        return resources.world.fragment(of: place, in: cell, rendering: rendering) {
            JSONLayout.legacy.lay(
                writer(of: place, in: cell, language: language).searchResult(isText: isText), depth: 2)
        }
    }

    private func writer(of place: SimulatedPlace, in cell: Cell, language: PlaceLanguage) -> LegacyPlace {
        LegacyPlace(
            text: PlaceText(place: place, cell: cell), ids: resources.world.ids, language: language,
            isOld: resources.configuration.oldVersions)
    }

    /// Answers a "find place" request. Its answer has `candidates` instead of `results`, and no `html_attributions`.
    private func find() -> Reply {
        guard let input = query["input"], !input.isEmpty, let kind = query["inputtype"],
            kind == "textquery" || kind == "phonenumber"
        else {
            return Self.noCandidates(status: "INVALID_REQUEST")
        }

        let match = resources.keyword(input, lenient: true)
        let town = Town.all[match?.town ?? 0]
        var places = PlaceQuery(
            area: .circle(latitude: town.latitude, longitude: town.longitude, radius: PlaceQuery.reach))
        (places.keyword, places.order) = (match, .prominence)
        let found = resources.finder.find(places, start: 0, count: 1).hits
        guard let hit = found.first else {
            return Self.noCandidates(status: "ZERO_RESULTS")
        }

        let fields = query["fields"] ?? "place_id"
        let mask = FieldMask(paths: fields.split(separator: ","), separator: "/")
        let place = writer(of: hit.place, in: hit.cell, language: PlaceLanguage(query["language"])).details()
        var body = ByteBuffer(string: "{\n   \"candidates\" : [\n      ")
        JSONLayout.legacy.lay(mask.applied(to: place), depth: 2, into: &body)
        body.writeStaticString("\n   ],\n   \"status\" : \"OK\"\n}\n")
        return Reply(Reply.json, body: body)
    }

    private static func noCandidates(status: String) -> Reply {
        Reply(
            Reply.json, body: "{\n   \"candidates\" : [],\n   \"status\" : \"\(status)\"\n}\n", outcome: status)
    }

    // MARK: Details

    private func details() -> Reply {
        guard let id = query["place_id"] ?? query["placeid"] ?? query["reference"], !id.isEmpty else {
            return Self.status(
                "INVALID_REQUEST", message: "Missing the place_id or reference parameter.", isDetails: true)
        }

        // A fault and a blank may precede the id.
        guard let word = id.split(separator: " ").last else { return Self.status("INVALID_REQUEST", isDetails: true) }

        switch resources.world.ids.googlePlace(word) {
        case .malformed: return Self.status("INVALID_REQUEST", isDetails: true)
        case .unknown: return Self.status("NOT_FOUND", isDetails: true)
        case .place(let known):
            guard let (cell, place) = resources.world.place(known) else {
                return Self.status("NOT_FOUND", isDetails: true)
            }
            var json = writer(of: place, in: cell, language: PlaceLanguage(query["language"])).details()
            if let fields = query["fields"], !fields.isEmpty {
                json = FieldMask(paths: fields.split(separator: ","), separator: "/").applied(to: json)
            }
            var body = ByteBuffer(string: "{\n   \"html_attributions\" : [],\n   \"result\" : ")
            JSONLayout.legacy.lay(json, depth: 1, into: &body)
            body.writeStaticString(",\n   \"status\" : \"OK\"\n}\n")
            return Reply(Reply.json, body: body)
        }
    }

    // MARK: Photos

    private func photo() -> Reply {
        let sizes = ["maxwidth", "maxheight"].compactMap { query[$0].map { Int($0) ?? 0 } }
        guard let reference = query["photo_reference"] ?? query["photoreference"], !sizes.isEmpty,
            sizes.allSatisfy({ (1...1600).contains($0) }),
            let photo = PhotoReferences(of: resources.world).find(reference)
        else { return Reply.page(400, title: "Bad Request") }

        let link = PhotoReferences.link(to: photo, size: query["maxwidth"].map { "w\($0)" } ?? "h\(sizes[0])")
        var reply = Reply(
            Reply.html,
            body: "<HTML><HEAD><TITLE>302 Moved</TITLE></HEAD><BODY>\n<H1>302 Moved</H1>\n"
                + "<A HREF=\"\(link)\">The picture</A> is elsewhere.\n</BODY></HTML>\n",
            status: 302, outcome: "ok")
        reply.headers = [("Location", link), ("Cache-Control", "no-cache, must-revalidate")]
        return reply
    }

    // MARK: Errors

    /// Returns the answer for `error`.
    static func error(_ error: ProviderError, hint: RetryHint?, isDetails: Bool) -> Reply {
        var reply = status(error.legacyStatus, message: error.legacyMessage, isDetails: isDetails, isBare: true)
        if let hint { reply.headers.append(("Retry-After", hint.header)) }
        return reply
    }

    /// Returns an answer without places.
    /// - Parameter isBare: true to omit `results`, as some errors do.
    static func status(_ status: String, message: String = "", isDetails: Bool = false, isBare: Bool = false) -> Reply {
        var lines: [String] = []
        if !message.isEmpty { lines.append("   \"error_message\" : \"\(message)\"") }
        if !isBare { lines.append("   \"html_attributions\" : []") }
        if !isBare, !isDetails { lines.append("   \"results\" : []") }
        lines.append("   \"status\" : \"\(status)\"")
        return Reply(Reply.json, body: "{\n" + lines.joined(separator: ",\n") + "\n}\n", outcome: status)
    }
}
