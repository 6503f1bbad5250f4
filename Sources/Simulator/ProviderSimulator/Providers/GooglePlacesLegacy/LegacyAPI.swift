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
        let (hits, total) = resources.finder.find(
            search.placeQuery(), start: search.offset, count: LegacySearch.pageSize)
        guard !hits.isEmpty else { return Self.status("ZERO_RESULTS").billed("legacy-nearby-search") }

        let next = search.nextPage
        let hasMore = next.offset < min(total, LegacySearch.limit)
        let token = hasMore ? next.token(seed: resources.world.seed, now: now) : nil
        let language = search.language
        let fragments = hits.map { fragment(of: $0.place, in: $0.cell, language: language) }
        let page = token.map { "   \"next_page_token\" : \"\($0)\",\n" } ?? ""
        let head = "{\n   \"html_attributions\" : [],\n\(page)   \"results\" : [\n      "
        return Reply(
            Reply.json, body: resources.join(fragments, head: head, separator: ",\n      ", tail: Self.tail)
        ).billed("legacy-nearby-search")
    }

    private static let tail: StaticString = "\n   ],\n   \"status\" : \"OK\"\n}\n"

    private func fragment(of place: SimulatedPlace, in cell: Cell, language: PlaceLanguage) -> ByteBuffer {
        resources.world.fragment(of: place, in: cell, rendering: 0x2000_0000 | language.rawValue) {
            let json = writer(of: place, in: cell, language: language).render(isDetailed: false)
            return JSONLayout.lay(json, depth: 2)
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
                json = FieldMask(paths: fields.replacing("/", with: ".").split(separator: ",")).applied(to: json)
            }
            var body = ByteBuffer(string: "{\n   \"html_attributions\" : [],\n   \"result\" : ")
            body.writeImmutableBuffer(JSONLayout.lay(json, depth: 1))
            body.writeStaticString(",\n   \"status\" : \"OK\"\n}\n")
            return Reply(Reply.json, body: body).billed("legacy-place-details")
        }
    }

    // MARK: Photos

    private func photo() -> Reply {
        let given = [("w", query["maxwidth"]), ("h", query["maxheight"])].filter { $0.1 != nil }
        let sizes = given.compactMap { letter, text -> String? in
            guard let size = Int(text ?? ""), (1...1600).contains(size) else { return nil }
            return "\(letter)\(size)"
        }
        guard !sizes.isEmpty, sizes.count == given.count,
            let photo = GooglePhoto(reference: query["photo_reference"] ?? "", in: resources.world)
        else { return Reply.page(400, title: "Bad Request") }

        var reply = Reply.redirect(to: photo.link(size: sizes.joined(separator: "-")))
        reply.headers.append(("Cache-Control", "no-cache, must-revalidate"))
        return reply.billed("legacy-place-photo")
    }

    // MARK: Errors

    /// Returns the answer for `error`.
    static func error(_ error: ProviderError, retryAfter: Int?, isDetails: Bool) -> Reply {
        var reply = status(error.legacyStatus, message: error.legacyMessage, isDetails: isDetails, isBare: true)
        reply.setRetryAfter(retryAfter)
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
