package import EventContract
internal import HummingbirdCore

/// A page's filter for dead letters. A member that is `nil` does not filter.
package struct DeadLetterQuery: Sendable, Hashable {
    /// The error code.
    package var reason: String?
    /// The name of the faulty part; empty for letters without one.
    package var member: String?
    /// The source of the original event; empty for records without one.
    package var producer: String?
    /// A text that the letter contains, ignoring case: in the fault, in its source, or in the beginning of key or value.
    package var text: String?
    /// The earliest time of the dead letter.
    package var since: WallTime?
    /// The maximum number of letters, newest first.
    package var limit: Int

    private static let defaultLimit = 100
    private static let mostLetters = 1000

    package init(limit: Int = Self.defaultLimit) { self.limit = limit }

    /// Reads the parameters of a URL.
    /// - Throws: `invalid` for an invalid time.
    init(_ parameters: FlatDictionary<Substring, Substring>) throws(ConsoleError) {
        func text(_ name: Substring) -> String? { parameters[name].map { String($0) } }

        let wanted = parameters["limit"].flatMap { Int($0) } ?? Self.defaultLimit
        limit = min(max(wanted, 1), Self.mostLetters)
        (reason, member, producer) = (text("reason"), text("member"), text("producer"))
        self.text = text("text").flatMap { $0.isEmpty ? nil : $0 }

        guard let since = parameters["since"] else { return }
        guard let time = WallTime(rfc3339: Array(since.utf8)) else {
            throw ConsoleError(.invalid, "since takes a time as RFC 3339 writes it", member: "since")
        }
        self.since = time
    }
}
