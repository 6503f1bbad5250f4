internal import Basics

/// The newest search in progress of each session: a newer one supersedes it.
///
/// The requests are references and compared by identity; the value must have a single owner.
struct SessionSearches {
    private var newest: [ExactText: RequestInProgress] = [:]

    /// Adds a search. One with a higher offset is newer.
    /// - Returns: the superseded search, which may be `search` itself; `nil` if the session had none.
    mutating func begin(_ search: RequestInProgress, session: String) -> RequestInProgress? {
        let session = ExactText(session)
        guard let other = newest.updateValue(search, forKey: session) else { return nil }
        if other.offset < search.offset { return other }
        newest[session] = other
        return search
    }

    /// Removes a finished search. Does nothing if a newer one has replaced it.
    mutating func end(_ search: RequestInProgress, session: String) {
        guard let index = newest.index(forKey: ExactText(session)), newest.values[index] === search else { return }
        newest.remove(at: index)
    }
}
