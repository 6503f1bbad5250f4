import EventContract
import LocationSearch

/// Adds actions to states. Pure: it does not wait, reads no clock, and uses only its arguments.
public enum Reducer {
    /// Adds an action to a session's state.
    /// - Parameters:
    ///   - state: the state to change. Its revision increases if the visible state changes.
    ///   - action: any action of that session, in any order and any number of times. Its session id is not checked.
    public static func reduce(_ state: inout SessionState, _ action: Action) {
        guard state.exchanges.add(action, limits: state.limits) else { return }

        let parts = Derivation(of: state.exchanges).parts
        guard parts != state.parts else { return }
        state.parts = parts
        state.revision += 1
    }
}

/// Derives what a session shows from its exchanges.
struct Derivation {
    /// The exchanges that may still be shown, oldest first.
    private let exchanges: [Exchange]
    /// The newest search, without requests for further pages.
    private let current: Exchange?

    init(of exchanges: Exchanges) {
        self.exchanges = exchanges.all.filter { !$0.isPast }
        current = self.exchanges.last { $0.isFirstPage }
    }

    var parts: SessionParts {
        let pages = pagesOfList()
        var changes = PlaceChanges()
        if let first = pages.first {
            for exchange in exchanges where first.position < exchange.position { changes.add(exchange) }
        }
        let list = pages.first.map { placeList(of: pages, first: $0, changes: changes) }

        let aboutPlace = exchangesOfSelection()
        let selected = aboutPlace.last.flatMap { selection(of: aboutPlace, newest: $0, list: list) }
        return SessionParts(
            search: current.map(search), inFlight: inFlight, error: failure(among: aboutPlace), selected: selected,
            list: list)
    }

    // MARK: Search

    private func search(of exchange: Exchange) -> SessionState.Search {
        SessionState.Search(
            requestID: exchange.requestID, status: status(of: exchange), sentAt: exchange.sentAt,
            request: exchange.request,
            ran: exchange.result?.search)
    }

    private func status(of exchange: Exchange) -> SessionState.Search.Status {
        switch exchange.outcome?.body {
        case nil: .inFlight
        case .completed: .completed
        case .failed: .failed
        }
    }

    private var inFlight: [SessionState.PendingRequest] {
        exchanges.compactMap { exchange in
            guard exchange.outcome == nil, let request = exchange.request, let sentAt = exchange.sentAt else {
                return nil
            }
            return SessionState.PendingRequest(request: request, sentAt: sentAt)
        }
    }

    private func isCurrent(_ exchange: Exchange) -> Bool {
        current.map { $0.position < exchange.position } ?? true
    }

    // MARK: List

    /// Returns the pages of the newest completed search, in order.
    private func pagesOfList() -> [Exchange] {
        let completed = exchanges.filter { $0.operation == .search && $0.isCompleted }
        guard let first = completed.last(where: { $0.isFirstPage }) ?? completed.last(where: beginsRun) else {
            return []
        }

        var pages = [first]
        while let token = pages.last?.result?.nextPageToken {
            // If a page was requested twice, the newer answer counts. A provider's tokens may form a cycle.
            let next = completed.last { page in
                page.pageToken == token && first.position < page.position
                    && !pages.contains { $0.requestID == page.requestID }
            }
            guard let next else { break }
            pages.append(next)
        }
        return pages

        /// Returns whether a page is the first kept one of its search, because earlier pages were dropped.
        func beginsRun(_ page: Exchange) -> Bool {
            !completed.contains { $0.position < page.position && $0.result?.nextPageToken == page.pageToken }
        }
    }

    private func placeList(of pages: [Exchange], first: Exchange, changes: PlaceChanges) -> SessionState.PlaceList {
        let results = pages.compactMap(\.result)
        return SessionState.PlaceList(
            requestID: first.requestID, isSuperseded: current.map { first.position < $0.position } ?? false,
            provider: first.outcome?.provider, search: first.result?.search,
            totalAvailable: results.last { $0.totalAvailable != nil }?.totalAvailable,
            nextPageToken: results.last?.nextPageToken, attributions: results.flatMap(\.attributions).withoutRepeats,
            places: changes.applied(to: results.map(\.places)))
    }

    // MARK: Selection

    /// Returns the exchanges about the most recently requested place, since the newest search.
    private func exchangesOfSelection() -> [Exchange] {
        let aboutPlace = exchanges.filter { $0.subject != nil && isCurrent($0) }
        guard let subject = aboutPlace.last?.subject else { return [] }
        return aboutPlace.filter { $0.subject?.matches(subject) == true }
    }

    private func selection(
        of aboutPlace: [Exchange], newest: Exchange, list: SessionState.PlaceList?
    ) -> SessionState.Selection? {
        guard let subject = newest.subject else { return nil }
        let listed = list?.places.first { subject.matches(PlaceSubject(id: $0.id, provider: $0.provider)) }

        var changes = PlaceChanges()
        for exchange in aboutPlace { changes.add(exchange) }
        let place = listed ?? changes.place(subject)

        let credits = aboutPlace.flatMap { $0.result?.attributions ?? [] }
        return SessionState.Selection(
            id: subject.id, provider: aboutPlace.compactMap { $0.subject?.provider }.last ?? listed?.provider,
            isLoading: aboutPlace.contains { $0.outcome == nil },
            hasDetails: aboutPlace.contains { $0.operation == .details && $0.result?.places.isEmpty == false },
            imageURL: place?.imageURL ?? changes.imageURL(of: subject),
            attributions: ((listed == nil ? [] : list?.attributions ?? []) + credits).withoutRepeats, place: place)
    }

    // MARK: Failure

    /// - Parameter aboutPlace: the exchanges about the selected place, oldest first.
    private func failure(among aboutPlace: [Exchange]) -> SessionState.Failure? {
        let page = exchanges.last { $0.operation == .search && !$0.isFirstPage && isCurrent($0) }
        let details = aboutPlace.last { $0.operation == .details }
        let photo = aboutPlace.last { $0.operation == .photo }

        let failed = [current, page, details, photo].compactMap(\.self).filter { $0.failure != nil }
        guard let newest = failed.max(by: { $0.position < $1.position }), let failure = newest.failure else {
            return nil
        }
        return SessionState.Failure(
            requestID: newest.requestID, operation: newest.operation, code: failure.code, message: failure.message,
            isRetryable: failure.isRetryable, retryAfter: failure.retryAfter, member: failure.member,
            request: newest.request)
    }
}

extension [String] {
    /// The texts without repetitions, in order.
    fileprivate var withoutRepeats: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
