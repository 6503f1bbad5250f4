internal import JSON

/// What a person pauses or resumes for the whole fleet: `{"pause":true,"provider":"hotpepper","forSeconds":1800}`.
package struct PauseChoice: Sendable, Hashable {
    /// The longest time that a page may name: a week. What is to last for longer has no end.
    private static let longest = 604_800

    /// False to resume.
    package private(set) var isPause: Bool
    /// `nil`: the intake of requests.
    package private(set) var provider: String?
    /// `nil`: until it is taken back.
    package private(set) var seconds: Int?
    /// Gives the order although no worker answers: it counts for those that start.
    package private(set) var isLater = false

    /// - Throws: `invalid` for anything else, so that nothing is paused by mistake.
    init(json bytes: [UInt8]) throws(ConsoleError) {
        var pause: Bool?
        var intake = false
        do throws(JSONError) {
            var reader = JSONReader(bytes.span)
            if try reader.enterObject() {
                while let key = try reader.nextKey() {
                    switch key {
                    case "pause": pause = try reader.bool()
                    case "provider": provider = try reader.string()
                    case "intake": intake = try reader.bool() ?? false
                    case "later": isLater = try reader.bool() ?? false
                    case "forSeconds": seconds = try reader.skipNull() ? nil : reader.int() ?? 0
                    default: try reader.skip()
                    }
                }
            }
            try reader.finish()
        } catch {
            throw ConsoleError(.invalid, "the body is no JSON: \(error)")
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
