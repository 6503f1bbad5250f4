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

/// A request that was taken from a partition, as the partition uses it.
protocol TakenRequest: AnyObject {
    /// The request's entry in the partition's `OffsetTracker`.
    var slot: OffsetTracker.Slot { get }
    /// The offset of its record.
    var offset: Int64 { get }
    /// The request's index in the partition's list; `nil` once the request has ended.
    var index: Int? { get set }
    /// The decision about the request so far.
    var fate: RequestFate { get }
    /// `true` if another worker that ran the request again would be billed for it, or publish it, a second time.
    var wasBilled: Bool { get }
    /// `true` for a request that may have begun before earlier ones: one that ran in isolation, or an invalid record.
    var hasOvertaken: Bool { get }
    /// Ends the work on the request. Does nothing once its outcome is being delivered.
    func end(as fate: RequestFate)
}

/// The decision about a request's outcome.
enum RequestFate {
    /// The request's outcome will be published.
    case wanted
    /// A newer request of its session arrived: its outcome is the error `superseded`.
    case superseded
    /// The partition was revoked, or the worker stopped waiting: there is no outcome, and the offset stays uncommitted.
    case abandoned
}
