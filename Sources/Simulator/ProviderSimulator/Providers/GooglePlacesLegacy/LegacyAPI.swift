internal import NIOCore
internal import NIOHTTP1

/// Answers requests to Google's older Places API: nearby searches, details, and photos.
struct LegacyAPI {
    let resources: LoopResources
    let request: IncomingRequest

    private var query: QueryParameters { request.query }

    func reply() -> Reply {
        guard request.method == .GET else { return Reply.page(405, title: "Method Not Allowed") }
        switch request.endpoint {
        case .legacyNearby: return search()
        case .legacyDetails: return details()
        default: return photo()
        }
    }

    // MARK: Searches

    private func search() -> Reply {
        let now = NIODeadline.now().uptimeNanoseconds
        guard let token = query["pagetoken"], !token.isEmpty else {
            return LegacySearch(query).map { page(of: $0, now: now) } ?? Self.status("INVALID_REQUEST")
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

        let next = search.nextPage
        let hasMore = next.offset < min(total, LegacySearch.limit)
        let token = hasMore ? next.token(seed: resources.world.seed, now: now) : nil
        let language = search.language
        let fragments = hits.map { fragment(of: $0.1, in: $0.0, language: language) }
        let head = Self.head(salt: search.salt, nextPageToken: token)
        return Reply(
            Reply.json, body: resources.join(fragments, head: head, separator: ",\n      ", tail: Self.tail))
    }

    /// Returns the town itself, which may be the first result of a search without type and keyword; `nil` for other
    /// searches.
    private func locality(of search: LegacySearch) -> (Cell, SimulatedPlace)? {
        guard search.offset == 0, search.type.isEmpty, search.keyword.isEmpty, search.salt & 1 == 0,
            !resources.world.cell(search.cell).places.isEmpty
        else { return nil }
        return resources.world.place(PlaceIDs.Place(cell: search.cell, slot: PlaceIDs.localitySlot))
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

    private func fragment(of place: SimulatedPlace, in cell: Cell, language: PlaceLanguage) -> ByteBuffer {
        resources.world.fragment(of: place, in: cell, rendering: 0x2000_0000 | language.rawValue) {
            let json = writer(of: place, in: cell, language: language).render(isDetailed: false)
            return JSONLayout.legacy.lay(json, depth: 2)
        }
    }

    private func writer(of place: SimulatedPlace, in cell: Cell, language: PlaceLanguage) -> LegacyPlace {
        LegacyPlace(text: PlaceText(place: place, cell: cell), ids: resources.world.ids, language: language)
    }

    // MARK: Details

    private func details() -> Reply {
        guard let id = query["place_id"], !id.isEmpty else {
            return Self.status(
                "INVALID_REQUEST", message: "Missing the place_id or reference parameter.", isDetails: true)
        }

        // A fault and a blank may precede the id.
        switch resources.world.ids.googlePlace(id.split(separator: " ").last ?? "") {
        case .malformed: return Self.status("INVALID_REQUEST", isDetails: true)
        case .unknown: return Self.status("NOT_FOUND", isDetails: true)
        case .place(let known):
            guard let (cell, place) = resources.world.place(known) else {
                return Self.status("NOT_FOUND", isDetails: true)
            }
            let language = PlaceLanguage(query["language"])
            var json = writer(of: place, in: cell, language: language).render(isDetailed: true)
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
        guard let width = Int(query["maxwidth"] ?? ""), (1...1600).contains(width),
            let photo = GooglePhoto(reference: query["photo_reference"] ?? "", in: resources.world)
        else { return Reply.page(400, title: "Bad Request") }

        var reply = Reply.redirect(to: photo.link(size: "w\(width)"))
        reply.headers.append(("Cache-Control", "no-cache, must-revalidate"))
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
