package import EventContract
internal import Hummingbird

/// Chooses the dead letters that a page wants to see. What is `nil` lets all of them through.
package struct DeadLetterQuery: Sendable, Hashable {
    /// The error code.
    package var reason: String?
    /// The name of what is at fault; empty for letters that name nothing.
    package var member: String?
    /// The source of the event that the record was; empty for records that name none.
    package var producer: String?
    /// A text that the letter holds, whatever its case: in what is wrong, in its source, or in the beginning of key or value.
    package var text: String?
    /// The earliest time at which it was put aside.
    package var since: EventTime?
    /// The number of letters that are wanted, the newest.
    package var limit: Int

    private static let defaultLimit = 100
    private static let mostLetters = 1000

    package init(limit: Int = Self.defaultLimit) { self.limit = limit }

    /// Reads the parameters of a URL.
    /// - Throws: `invalid` for a time that is none.
    init(_ parameters: Parameters) throws(ConsoleError) {
        func text(_ name: Substring) -> String? { parameters[name].map { String($0) } }

        let wanted = parameters["limit"].flatMap { Int($0) } ?? Self.defaultLimit
        limit = min(max(wanted, 1), Self.mostLetters)
        (reason, member, producer) = (text("reason"), text("member"), text("producer"))
        self.text = text("text").flatMap { $0.isEmpty ? nil : $0 }

        guard let since = parameters["since"] else { return }
        guard let time = EventTime(rfc3339: Array(since.utf8)) else {
            throw ConsoleError(.invalid, "since takes a time as RFC 3339 writes it", member: "since")
        }
        self.since = time
    }
}
