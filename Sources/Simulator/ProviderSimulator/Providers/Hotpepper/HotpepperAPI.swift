internal import JSON
internal import NIOCore
internal import NIOHTTP1

/// Answers requests to Hot Pepper Gourmet: searches, shop searches, and the lists of codes ("masters").
struct HotpepperAPI {
    let resources: LoopResources
    let request: IncomingRequest

    private var query: QueryParameters { request.query }
    private var format: Format { Format(request.query) }

    /// The format of an answer. The default is XML.
    enum Format {
        case xml, json
        case jsonp(String)

        init(_ query: QueryParameters) {
            switch query["format"] {
            case "json": self = .json
            case "jsonp":
                let name = query["callback"] ?? ""
                let isName = !name.isEmpty && name.utf8.count <= 64 && name.utf8.allSatisfy(Self.isNameByte)
                self = .jsonp(isName ? name : "callback")
            default: self = .xml
            }
        }

        private static func isNameByte(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte == UInt8(ascii: ".")
                || (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
                || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
        }
    }

    func reply() -> Reply {
        guard request.method == .GET else { return Reply.page(405, title: "Method Not Allowed") }
        switch request.endpoint {
        case .gourmet: return gourmet()
        case .shop: return shop()
        default: return master()
        }
    }

    // MARK: Gourmet search

    private func gourmet() -> Reply {
        guard let page = page(largest: 100, usual: 10) else { return refused }
        if query.has("id") { return shops(withIDs: query.list("id", limit: 20), page: page) }

        guard var search = HotpepperQuery(query, resources: resources) else { return refused }
        search.places.isHotpepper = true
        let (hits, total) = resources.finder.find(search.places, start: page.skipped, count: page.count)
        return answer(hits.map { ($0.cell, $0.place) }, total: total, start: page.start)
    }

    /// Finds shops by their ids. Hot Pepper has no other request for details.
    private func shops(withIDs ids: [Substring], page: (start: Int, skipped: Int, count: Int)) -> Reply {
        let found = ids.compactMap { id -> (Cell, SimulatedPlace)? in
            guard let place = resources.world.ids.hotpepperPlace(id), let found = resources.world.place(place) else {
                return nil
            }
            return found.1.isListedByHotpepper ? found : nil
        }

        let shown = found.dropFirst(page.skipped).prefix(page.count)
        return answer(Array(shown), total: found.count, start: page.start)
    }

    private func answer(_ shops: [(Cell, SimulatedPlace)], total: Int, start: Int) -> Reply {
        let style = HotpepperShop.Style(query, isOld: resources.configuration.oldVersions)
        let fragments = shops.map { cell, place in
            resources.world.fragment(of: place, in: cell, rendering: style.rendering) {
                HotpepperShop(text: PlaceText(place: place, cell: cell), ids: resources.world.ids).render(in: style)
            }
        }

        let head =
            "{\"results\":{\"api_version\":\"\(style.version)\",\"results_available\":\(total),"
            + "\"results_returned\":\"\(shops.count)\",\"results_start\":\(start),\"shop\":["
        let body = resources.join(fragments, head: head, separator: ",", tail: "]}}")
        return Self.reply(body, in: format, outcome: shops.isEmpty ? "empty" : "ok")
    }

    // MARK: Shop search

    /// Finds shops by name or telephone number. More than 30 hits are an error; there are no further pages.
    private func shop() -> Reply {
        guard let page = page(largest: 30, usual: 30) else { return refused }
        guard let text = query["keyword"] ?? query["tel"], !text.isEmpty else { return refused }

        let match = query.has("keyword") ? resources.keyword(text, lenient: false) : nil
        let town = Town.all[match?.town ?? 0]
        var search = PlaceQuery(
            area: .circle(latitude: town.latitude, longitude: town.longitude, radius: PlaceQuery.reach))
        (search.isHotpepper, search.keyword, search.order) = (true, match, .prominence)
        if !query.has("keyword") {
            search.condition = { place, cell in PlaceText(place: place, cell: cell).phoneDigits == text }
        }

        let (hits, total) = resources.finder.find(search, start: page.skipped, count: page.count)
        guard total <= 30 else {
            return Self.error(code: 3000, message: "該当する店舗が多すぎます。条件を絞り込んでください。", format: format)
        }

        let fragments = hits.map { hit in
            resources.world.fragment(of: hit.place, in: hit.cell, rendering: HotpepperShop.Style.searchRendering) {
                HotpepperShop(text: PlaceText(place: hit.place, cell: hit.cell), ids: resources.world.ids)
                    .renderForShopSearch()
            }
        }

        let head =
            "{\"results\":{\"api_version\":\"1.20\",\"results_available\":\(total),"
            + "\"results_returned\":\"\(hits.count)\",\"results_start\":\(page.start),\"shop\":["
        let body = resources.join(fragments, head: head, separator: ",", tail: "]}}")
        return Self.reply(body, in: format, outcome: hits.isEmpty ? "empty" : "ok")
    }

    // MARK: Masters

    private func master() -> Reply {
        let parts = request.path.split(separator: "/")
        guard parts.count == 3, let list = HotpepperMasters(query: query).render(String(parts[1])) else {
            return Reply.page(404, title: "Not Found")
        }
        return Self.reply(resources.allocator.buffer(bytes: list), in: format, outcome: "ok")
    }

    // MARK: Helpers

    /// Parses the requested page: the number of places before it, and its size; `nil` if a parameter is not a number of
    /// at least 1.
    private func page(largest: Int, usual: Int) -> (start: Int, skipped: Int, count: Int)? {
        guard let start = number("start", usual: 1), let count = number("count", usual: usual) else { return nil }
        return (start, start - 1, min(count, largest))  // bounded: a number is 1 to 1,000,000,000
    }

    private func number(_ name: String, usual: Int) -> Int? {
        guard let text = query[name], !text.isEmpty else { return usual }
        guard let number = Int(text), number >= 1, number <= 1_000_000_000 else { return nil }
        return number
    }

    private var refused: Reply {
        Self.error(code: 3000, message: "検索条件が正しくありません。条件を一つ以上、正しい形式で指定してください。", format: format)
    }

    /// Returns an answer without shops.
    static func nothing(format: Format) -> Reply {
        Self.reply(
            ByteBuffer(
                string: "{\"results\":{\"api_version\":\"1.30\",\"results_available\":0,\"results_returned\":\"0\","
                    + "\"results_start\":1,\"shop\":[]}}"), in: format, outcome: "empty")
    }

    /// Returns the answer for `error`. Hot Pepper has no error for too many requests, so its front end is assumed to
    /// answer with HTTP 429.
    static func error(_ error: ProviderError, hint: RetryHint?, format: Format) -> Reply {
        guard error.hotpepperCode != 0 else { return Reply.page(429, title: "Too Many Requests", retryAfter: hint) }
        let message =
            switch error.hotpepperCode {
            case 1000: "サーバ障害が発生しました。時間をおいて再度お試しください。"
            case 2000: "指定されたAPIキーまたはIPアドレスではご利用になれません。"
            case 3000: "検索条件が正しくありません。"
            default: "エラーが発生しました。"
            }
        var reply = self.error(code: error.hotpepperCode, message: message, format: format)
        if let hint { reply.headers.append(("Retry-After", hint.header)) }
        return reply
    }

    private static func error(code: Int, message: String, format: Format) -> Reply {
        let json = "{\"results\":{\"api_version\":\"1.26\",\"error\":[{\"code\":\(code),\"message\":\"\(message)\"}]}}"
        return Self.reply(ByteBuffer(string: json), in: format, outcome: "error-\(code)")
    }

    private static func reply(_ json: ByteBuffer, in format: Format, outcome: String) -> Reply {
        switch format {
        case .json: return Reply(Reply.javascript, body: json, outcome: outcome)
        case .xml: return Reply(Reply.xml, body: XMLText.from(Array(json.readableBytesView)), outcome: outcome)
        case .jsonp(let name):
            var body = ByteBuffer(string: "\(name)(")
            body.writeImmutableBuffer(json)
            body.writeStaticString(");")
            return Reply(Reply.javascript, body: body, outcome: outcome)
        }
    }
}
