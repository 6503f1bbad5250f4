internal import NIOCore
internal import NIOHTTP1

/// Answers requests to Hot Pepper's gourmet search. It knows the parameters that a worker sends, and ignores others.
struct HotpepperAPI {
    let resources: LoopResources
    let request: IncomingRequest

    /// The radius in metres for each `range` from 1 to 5.
    private static let ranges = [300.0, 500, 1000, 2000, 3000]

    private var query: QueryParameters { request.query }

    func reply() -> Reply {
        guard request.method == .GET else { return Reply.page(405, title: "Method Not Allowed") }
        // The default is XML, which no worker requests. The simulator has only JSON.
        guard query["format"] == "json", let start = number("start", usual: 1), let count = number("count", usual: 10)
        else { return Self.refused }

        let (skipped, size) = (start - 1, min(count, 100))  // bounded: a number is 1 to 1,000,000,000
        if query.has("id") {
            let found = query.list("id", limit: 20).compactMap(shop)
            return answer(Array(found.dropFirst(skipped).prefix(size)), total: found.count, start: start)
        }

        guard let places = placeQuery() else { return Self.refused }
        let (hits, total) = resources.finder.find(places, start: skipped, count: size)
        return answer(hits.map { ($0.cell, $0.place) }, total: total, start: start)
    }

    /// Finds a shop by its id. Hot Pepper has no other request for details.
    private func shop(_ id: Substring) -> (Cell, SimulatedPlace)? {
        guard let place = resources.world.ids.hotpepperPlace(id), let found = resources.world.place(place),
            found.1.isListedByHotpepper
        else { return nil }
        return found
    }

    /// Returns the query for the places of a search; `nil` if a parameter is missing or invalid.
    private func placeQuery() -> PlaceQuery? {
        let keyword = query["keyword"] ?? ""
        var places: PlaceQuery
        if query.has("lat") || query.has("lng") {
            guard let latitude = degrees("lat", limit: 90), let longitude = degrees("lng", limit: 180),
                let range = Int(query["range"] ?? "3"), (1...5).contains(range)
            else { return nil }
            // bounded: a range is 1 to 5
            let radius = Self.ranges[range - 1]
            places = PlaceQuery(area: .circle(latitude: latitude, longitude: longitude, radius: radius))
        } else {
            guard !keyword.isEmpty else { return nil }
            places = PlaceQuery(area: .firstTown)
        }

        let genres = query.list("genre").filter { !$0.hasPrefix("fault:") }
        places.categories =
            genres.isEmpty
            ? Category.foodMask
            : Category.mask { kind in kind.genre.map { genre in genres.contains { $0 == genre.code } } ?? false }
        places.keyword = KeywordMatch(keyword, lenient: false)
        if query["order"] == "4" { places.order = .prominence }
        places.isHotpepper = true
        return places
    }

    private func degrees(_ name: String, limit: Double) -> Double? {
        guard let number = Double(query[name] ?? ""), number.magnitude <= limit else { return nil }
        return number
    }

    private func number(_ name: String, usual: Int) -> Int? {
        guard let text = query[name], !text.isEmpty else { return usual }
        guard let number = Int(text), number >= 1, number <= 1_000_000_000 else { return nil }
        return number
    }

    // MARK: Answers

    private func answer(_ shops: [(Cell, SimulatedPlace)], total: Int, start: Int) -> Reply {
        let isLite = query["type"] == "lite"
        let fragments = shops.map { cell, place in
            resources.world.fragment(of: place, in: cell, rendering: 0x1000_0000 | (isLite ? 1 : 0)) {
                HotpepperShop(text: PlaceText(place: place, cell: cell), ids: resources.world.ids)
                    .render(isLite: isLite)
            }
        }

        let head = Self.head(total: total, returned: shops.count, start: start)
        let body = resources.join(fragments, head: head, separator: ",", tail: "]}}")
        return Reply(Reply.javascript, body: body, outcome: shops.isEmpty ? "empty" : "ok").billed("hotpepper")
    }

    private static func head(total: Int, returned: Int, start: Int) -> String {
        "{\"results\":{\"api_version\":\"1.30\",\"results_available\":\(total),"
            + "\"results_returned\":\"\(returned)\",\"results_start\":\(start),\"shop\":["
    }

    /// Returns an answer without shops.
    static var nothing: Reply {
        Reply(Reply.javascript, body: head(total: 0, returned: 0, start: 1) + "]}}", outcome: "empty")
    }

    private static var refused: Reply { error(code: 3000, message: "検索条件が正しくありません。条件を一つ以上、正しい形式で指定してください。") }

    /// Returns the answer for `error`. Hot Pepper has no error for too many requests, so its front end is assumed to
    /// answer with HTTP 429.
    static func error(_ error: ProviderError, retryAfter: Int?) -> Reply {
        guard error.hotpepperCode != 0 else {
            return Reply.page(429, title: "Too Many Requests", retryAfter: retryAfter)
        }
        let message =
            switch error.hotpepperCode {
            case 1000: "サーバ障害が発生しました。時間をおいて再度お試しください。"
            case 2000: "指定されたAPIキーまたはIPアドレスではご利用になれません。"
            case 3000: "検索条件が正しくありません。"
            default: "エラーが発生しました。"
            }
        var reply = self.error(code: error.hotpepperCode, message: message)
        reply.setRetryAfter(retryAfter)
        return reply
    }

    private static func error(code: Int, message: String) -> Reply {
        Reply(
            Reply.javascript,
            body: "{\"results\":{\"api_version\":\"1.26\",\"error\":[{\"code\":\(code),\"message\":\"\(message)\"}]}}",
            outcome: "error-\(code)")
    }
}
