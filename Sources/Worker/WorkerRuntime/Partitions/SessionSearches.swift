internal import Basics

/// The newest search under way of each session: a newer one supersedes it.
///
/// A value of one owner; what it holds are references, compared by identity.
struct SessionSearches {
    private var newest: [ExactText: (search: any TakenRequest, position: Int64)] = [:]

    /// Enters a search.
    /// - Parameter position: where the request stands in its partition. The higher one is newer.
    /// - Returns: the search that is superseded now, which may be `search` itself; `nil` when the session had none.
    mutating func begin(_ search: any TakenRequest, session: String, position: Int64) -> (any TakenRequest)? {
        let session = ExactText(session)
        guard let other = newest.updateValue((search, position), forKey: session) else { return nil }
        if other.position < position, !isPutBack(.newestSuperseded) { return other.search }
        newest[session] = other
        return search
    }

    /// Removes a search that has ended. Does nothing when a newer one has taken its place.
    mutating func end(_ search: any TakenRequest, session: String) {
        guard let index = newest.index(forKey: ExactText(session)), newest.values[index].search === search else {
            return
        }
        newest.remove(at: index)
    }
}
