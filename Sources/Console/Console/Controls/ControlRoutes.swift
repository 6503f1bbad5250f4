internal import HTTPServing
internal import Hummingbird
internal import JSON

/// Shows the orders in force, and pauses and resumes providers and the intake.
struct ControlRoutes {
    let backend: any ConsoleBackend
    let kafka: KafkaGate

    private static let mostBytes = 4096

    func add(to router: Router<ClientContext>) {
        router.get("/api/controls") { request, _ in
            try await kafka.answer(to: request) { try await backend.controls() }
        }

        router.post("/api/controls/pause") { request, _ in
            let choice = try PauseChoice(json: try await request.bytes(upTo: Self.mostBytes))
            let result = try await kafka.run { try await backend.control(choice) }

            let json = JSONWriter.object(capacity: 64) { json in
                json.member("taken", result.taken)
                json.member("workers", result.workers)
            }
            return JSONAnswer.response(json)
        }
    }
}

/// A choice to pause or resume something for the whole fleet: `{"pause":true,"provider":"hotpepper","forSeconds":1800}`.
package struct PauseChoice: Sendable, Hashable {
    /// The longest time that a page may choose: a week. Longer orders have no end.
    private static let longest = 604_800

    /// False to resume.
    package private(set) var isPause = true
    /// `nil`: the intake of requests.
    package private(set) var provider: String?
    /// `nil`: until the order is withdrawn.
    package private(set) var seconds: Int?
    /// Gives the order even if no worker answers: it applies to workers that start later.
    package private(set) var isLater = false

    /// - Throws: `invalid` for anything else, so that nothing is paused by mistake.
    init(json bytes: [UInt8]) throws(ConsoleError) {
        var pause: Bool?
        var intake = false
        try JSONBody.members(of: bytes) { name, json throws(JSONError) in
            switch name {
            case "pause": pause = try json.bool()
            case "provider": provider = try json.string()
            case "intake": intake = try json.bool() ?? false
            case "later": isLater = try json.bool() ?? false
            case "forSeconds": seconds = try json.skipNull() ? nil : json.int() ?? 0
            default: try json.skip()
            }
        }

        guard let pause else { throw ConsoleError(.invalid, "pause is missing", member: "pause") }
        isPause = pause
        guard intake != (provider != nil) else {
            throw ConsoleError(.invalid, "name a provider, or intake: one of the two", member: "provider")
        }
        if let seconds, !(1...Self.longest).contains(seconds) {
            throw ConsoleError(.invalid, "forSeconds is 1 to \(Self.longest), or missing", member: "forSeconds")
        }
    }
}
