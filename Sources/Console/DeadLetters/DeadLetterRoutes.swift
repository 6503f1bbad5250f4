internal import EventContract
internal import HTTPServing
internal import Hummingbird
internal import JSON

/// Shows dead letters, and sends chosen ones back.
struct DeadLetterRoutes {
    let backend: any ConsoleBackend

    private static let defaultLimit = 100
    private static let mostLetters = 1000
    /// The most bytes that a page may send to name the letters it chose.
    private static let mostBytes = 262_144

    func add(to router: Router<ClientContext>) {
        let backend = backend
        router.get("/api/dead-letters") { request, _ in
            let limit = request.uri.queryParameters["limit"].flatMap { Int($0) } ?? Self.defaultLimit
            let list = try await backend.deadLetters(limit: min(max(limit, 1), Self.mostLetters))
            return JSONAnswer.response(Self.json(list))
        }

        router.post("/api/dead-letters/redrive") { request, _ in
            let choice = try RedriveChoice(json: try await request.bytes(upTo: Self.mostBytes))
            let result = try await backend.redrive(choice.letters, ofVersion: choice.version)

            var json = JSONWriter(capacity: 64)
            json.beginObject()
            json.member("redriven", result.redriven)
            json.member("deleted", result.deleted)
            json.endObject()
            return JSONAnswer.response(json.finish())
        }
    }

    private static func json(_ list: DeadLetterList) -> [UInt8] {
        var json = JSONWriter(capacity: 16384)
        json.beginObject()
        json.member("total", list.total)
        json.member("pending", list.pending)
        json.member("confirm", list.version)
        if list.isPartial { json.member("isPartial", true) }
        json.array("letters", of: list.letters) { letter, json in write(letter, to: &json) }
        json.endObject()
        return json.finish()
    }

    private static func write(_ letter: DeadLetterList.Letter, to json: inout JSONWriter) {
        json.beginObject()
        json.member("partition", Int(letter.position.partition))
        json.member("offset", Int(letter.position.offset))
        json.member("time", letter.time?.description)
        json.member("reason", letter.reason)
        json.member("message", letter.message)
        if let source = letter.source { json.member("source", of: source) }
        json.member("valueHead", letter.valueHead)
        json.member("isRedriven", letter.isRedriven)
        json.member("isWithoutContent", letter.isWithoutContent)
        json.endObject()
    }
}
