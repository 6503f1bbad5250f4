import EventContract
import LocationSearch

/// A request and its outcome, as far as either has been seen.
struct Exchange: Sendable, Hashable {
    /// The position of an exchange in its session.
    struct Position: Sendable, Hashable, Comparable {
        let time: WallTime
        let requestID: String

        static func < (left: Position, right: Position) -> Bool {
            (left.time, left.requestID) < (right.time, right.requestID)
        }
    }

    let requestID: String
    private(set) var operation: SearchOperation?
    private(set) var sentAt: WallTime?
    private(set) var request: SearchRequest?
    private(set) var outcome: OutcomeEvent?
    /// True if a newer search has completed, so that this exchange is never shown again. Only its position is kept, to
    /// recognise late copies.
    private(set) var isPast = false
    /// The approximate size of its texts and places, in bytes.
    private(set) var byteCount: Int

    init(requestID: String) {
        self.requestID = requestID
        byteCount = Self.bytesOfItself + requestID.utf8.count
    }

    private static let bytesOfItself = 512

    /// True if the request has been seen, so that the position is final.
    var isRequested: Bool { sentAt != nil }

    var position: Position {
        let time = sentAt ?? outcome?.receivedAt ?? outcome?.completedAt
        return Position(time: time ?? WallTime(milliseconds: .min), requestID: requestID)
    }

    // MARK: Adding

    /// Adds an action. If there are two different requests, or two different outcomes, the choice depends on their contents
    /// and not on their order of arrival.
    mutating func add(_ action: Action) {
        if isPast { return }
        switch action {
        case .requested(let other, at: let time): add(other, sentAt: time)
        case .outcome(let other): add(other)
        }
        countBytes()
    }

    private mutating func countBytes() {
        byteCount =
            Self.bytesOfItself + requestID.utf8.count + (request?.textBytes ?? 0) + (outcome?.textBytes ?? 0)
    }

    private mutating func add(_ other: SearchRequest, sentAt time: WallTime) {
        if let request, let sentAt {
            guard (time, String(describing: other)) < (sentAt, String(describing: request)) else { return }
        }
        (request, sentAt, operation) = (other, time, other.operation)
    }

    private mutating func add(_ event: OutcomeEvent) {
        var other = event
        other.steps = nil  // not shown, and possibly large
        if let outcome, other == outcome || !other.isPreferred(over: outcome) { return }
        outcome = other.compacted()
        if request == nil { operation = other.operation.flatMap(SearchOperation.init) }
    }

    /// Drops everything but the position.
    mutating func becomePast() {
        (request, outcome, isPast) = (nil, nil, true)
        countBytes()
    }

    // MARK: Reading

    /// True when the outcome is a result, which may be an empty list.
    var isCompleted: Bool { result != nil }

    var result: SearchOutcome.Result? {
        guard case .completed(let result) = outcome?.body else { return nil }
        return result
    }

    /// The failure, unless the request was only superseded.
    var failure: OutcomeEvent.Failure? {
        guard case .failed(let failure) = outcome?.body, failure.code != SearchError.Code.superseded.rawValue else {
            return nil
        }
        return failure
    }

    /// The token of the page that the request asks for; `nil` for the first page.
    var pageToken: String? { operation == .search ? request?.pageToken : nil }

    /// True for a search that begins a list. A search whose request was not seen counts as one.
    var isFirstPage: Bool { operation == .search && pageToken == nil }
}

extension OutcomeEvent {
    /// Returns whether this outcome takes precedence over another one of the same request: a result before an error, as in
    /// the contract, otherwise the earlier one.
    fileprivate func isPreferred(over other: OutcomeEvent) -> Bool {
        let (rank, otherRank) = (Self.rank(of: body), Self.rank(of: other.body))
        if rank != otherRank { return rank < otherRank }

        let latest = WallTime(milliseconds: .max)
        let (time, otherTime) = (completedAt ?? latest, other.completedAt ?? latest)
        if time != otherTime { return time < otherTime }

        // Any comparison that does not depend on the order of arrival will do.
        return String(describing: self) < String(describing: other)
    }

    /// Returns the same outcome without the unused memory of its list, which may be as much again.
    fileprivate func compacted() -> OutcomeEvent {
        guard case .completed(var result) = body else { return self }
        result.places.compact()
        var event = self
        event.body = .completed(result)
        return event
    }

    private static func rank(of body: Body) -> Int {
        switch body {
        case .completed: 0
        case .failed: 1
        }
    }
}
