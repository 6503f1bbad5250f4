internal import JSON

/// A choice to pause or resume something for the whole fleet: `{"pause":true,"provider":"hotpepper","forSeconds":1800}`.
package struct PauseChoice: Sendable, Hashable {
    /// The longest time that a page may choose: a week. Longer orders have no end.
    private static let longest = 604_800

    /// False to resume.
    package private(set) var isPause: Bool
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
