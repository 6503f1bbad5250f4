internal import Basics

/// The newest search in progress of each session: a newer one supersedes it.
///
/// The searches are references and compared by identity; the value must have a single owner.
struct SessionSearches {
    private var newest: [ExactText: (search: any TakenRequest, position: Int64)] = [:]

    /// Adds a search.
    /// - Parameter position: the request's offset in its partition. A higher one is newer.
    /// - Returns: the superseded search, which may be `search` itself; `nil` if the session had none.
    mutating func begin(_ search: any TakenRequest, session: String, position: Int64) -> (any TakenRequest)? {
        let session = ExactText(session)
        guard let other = newest.updateValue((search, position), forKey: session) else { return nil }
        if other.position < position { return other.search }
        newest[session] = other
        return search
    }

    /// Removes a finished search. Does nothing if a newer one has replaced it.
    mutating func end(_ search: any TakenRequest, session: String) {
        guard let index = newest.index(forKey: ExactText(session)), newest.values[index].search === search else {
            return
        }
        newest.remove(at: index)
    }
}
