public import Basics

/// The order in which waiting calls are served: the most urgent class first, and within a class fairly between tenants.
///
/// Interactive calls go before batch calls, but batch calls have a guaranteed minimum share. Tenants are served by deficit
/// round robin (Shreedhar and Varghese, 1996). In each round a tenant is served as many calls as its weight, less its debt
/// from additional charges. A single waiting tenant is served every time, and with a single flow the order is first come,
/// first served.
///
/// Not `Sendable`: it belongs to one actor. Each operation takes constant time, unless its comment states that it visits
/// all calls or tenants.
public final class CallOrder<Element> {
    /// Identifies a waiting element, so that it can be removed without a search.
    public struct Ticket {
        fileprivate let node: Int
        fileprivate let serial: UInt64
    }

    private struct Entry {
        let element: Element
        let line: Line
        let serial: UInt64
        let owner: ObjectIdentifier?
    }

    /// The waiting calls of one tenant.
    private final class Line {
        let flow: Flow
        let weight: Double
        var entries = LinkedLists<Entry>.List()
        /// The calls that the tenant may still be served in this round; negative if it has a debt from additional charges.
        var deficit = 0.0
        /// The line's node in the round of its class.
        var node = 0

        init(_ flow: Flow, weight: Double) {
            self.flow = flow
            self.weight = weight
        }
    }

    /// The waiting calls of one class: the non-empty lines, in the order in which they are served.
    private struct Lines {
        var round = LinkedLists<Line>.List()
        var byTenant: [String: Line] = [:]
        var sums = LineSums()
        var count = 0
    }

    /// The largest debt of a tenant, in calls. Larger debts are reduced to this, so that a tenant is never shut out for long.
    private static var largestDebt: Double { 16 }
    /// Up to this number of lines, a forecast visits each line and is exact.
    private static var mostExactLines: Int { 64 }

    private let terms: FairTerms
    private var entries = LinkedLists<Entry>()
    private var lines = LinkedLists<Line>()
    private var interactive = Lines()
    private var batch = Lines()
    private var owned: [ObjectIdentifier: Ticket] = [:]
    private var lastSerial: UInt64 = 0
    /// The fraction of a call that batch requests have saved up while interactive calls were served.
    private var batchCredit = 0.0

    public init(_ terms: FairTerms = FairTerms()) { self.terms = terms }

    // MARK: - What waits

    public var isEmpty: Bool { interactive.count == 0 && batch.count == 0 }

    public var count: Int { interactive.count + batch.count }

    public func count(of requestClass: RequestClass) -> Int { self[requestClass].count }

    /// The number of flows with waiting elements.
    public var flowCount: Int { interactive.round.count + batch.round.count }

    /// Returns the tenants of a class that have waiting elements, with the number of elements and the first one. Visits all tenants.
    public func tenants(of requestClass: RequestClass) -> [(tenant: String, count: Int, first: Element)] {
        var tenants: [(tenant: String, count: Int, first: Element)] = []
        forEachLine(of: requestClass) { line in
            guard let first = line.entries.first else { return }
            tenants.append((line.flow.tenant, line.entries.count, entries[first].element))
        }
        return tenants
    }

    private subscript(requestClass: RequestClass) -> Lines {
        _read { if requestClass == .interactive { yield interactive } else { yield batch } }
        _modify { if requestClass == .interactive { yield &interactive } else { yield &batch } }
    }

    private func forEachLine(of requestClass: RequestClass, _ body: (Line) -> Void) {
        var node = self[requestClass].round.first
        while let current = node {
            body(lines[current])
            node = lines.next(after: current)
        }
    }

    // MARK: - In and out

    /// - Parameter owner: the object by which `move` finds the element. It owns at most one waiting element.
    /// - Returns: the element's ticket, and whether it is the only waiting element of the flow.
    @discardableResult
    public func append(
        _ element: Element, in flow: Flow, for owner: AnyObject? = nil
    ) -> (ticket: Ticket, isFirstOfFlow: Bool) {
        append(element, in: flow, owner: owner.map(ObjectIdentifier.init))
    }

    private func append(
        _ element: Element, in flow: Flow, owner: ObjectIdentifier?
    ) -> (ticket: Ticket, isFirstOfFlow: Bool) {
        let line = self[flow.requestClass].byTenant[flow.tenant] ?? addLine(of: flow)
        lastSerial += 1
        let entry = Entry(element: element, line: line, serial: lastSerial, owner: owner)
        let node = changeCount(of: line) { entries.append(entry, to: &line.entries) }
        let ticket = Ticket(node: node, serial: lastSerial)
        if let owner { owned[owner] = ticket }
        return (ticket, line.entries.count == 1)
    }

    private func addLine(of flow: Flow) -> Line {
        let line = Line(flow, weight: terms.weight(of: flow.tenant))
        self[flow.requestClass].byTenant[flow.tenant] = line
        line.node = lines.append(line, to: &self[flow.requestClass].round)
        return line
    }

    /// Updates the counts and sums of a line's class after a change of the line.
    private func changeCount<Result>(of line: Line, _ change: () -> Result) -> Result {
        let before = line.entries.count
        let result = change()
        let after = line.entries.count
        let requestClass = line.flow.requestClass
        self[requestClass].sums.remove(count: before, weight: line.weight)
        self[requestClass].sums.add(count: after, weight: line.weight)
        self[requestClass].count += after - before
        return result
    }

    /// Returns whether the element still waits.
    public func contains(_ ticket: Ticket) -> Bool {
        entries.contains(ticket.node) && entries[ticket.node].serial == ticket.serial
    }

    /// Removes an element.
    /// - Returns: `nil` if the element has left before.
    @discardableResult
    public func remove(_ ticket: Ticket) -> Element? {
        guard contains(ticket) else { return nil }
        return remove(at: ticket.node).element
    }

    private func remove(at node: Int) -> Entry {
        let entry = entries[node]
        let line = entry.line
        _ = changeCount(of: line) { entries.remove(node, from: &line.entries) }
        if line.entries.isEmpty {
            lines.remove(line.node, from: &self[line.flow.requestClass].round)
            self[line.flow.requestClass].byTenant[line.flow.tenant] = nil
        }
        if let owner = entry.owner { owned[owner] = nil }
        return entry
    }

    /// Moves an owner's element to the end of another flow.
    /// - Returns: the element and its new ticket; `nil` if the owner has no waiting element.
    public func move(elementOf owner: AnyObject, to flow: Flow) -> (element: Element, ticket: Ticket)? {
        guard let ticket = owned[ObjectIdentifier(owner)] else { return nil }
        let entry = remove(at: ticket.node)
        return (entry.element, append(entry.element, in: flow, owner: entry.owner).ticket)
    }

    /// Removes the element that is served next.
    /// - Parameter isAllowed: returns whether calls of a class may be served now.
    public func popFirst(where isAllowed: (RequestClass) -> Bool = { _ in true }) -> Element? {
        let mayServe = (
            interactive: interactive.count > 0 && isAllowed(.interactive), batch: batch.count > 0 && isAllowed(.batch)
        )
        guard mayServe.interactive || mayServe.batch else { return nil }
        guard mayServe.batch else { return pop(from: .interactive) }
        guard mayServe.interactive else { return pop(from: .batch) }

        batchCredit = min(1, batchCredit + terms.batchFloor)
        guard batchCredit >= 1 - 1e-9 else { return pop(from: .interactive) }
        batchCredit = 0
        return pop(from: .batch)
    }

    private func pop(from requestClass: RequestClass) -> Element? {
        var skipped = 0
        while let first = self[requestClass].round.first {
            let line = lines[first]
            if line.deficit < 1 { line.deficit += line.weight }
            guard line.deficit >= 1, let node = line.entries.first else {
                lines.rotate(&self[requestClass].round)
                skipped += 1
                if skipped == self[requestClass].round.count { skipRounds(of: requestClass) }
                continue
            }

            line.deficit -= 1
            let entry = remove(at: node)
            if !line.entries.isEmpty, line.deficit < 1 { lines.rotate(&self[requestClass].round) }
            return entry.element
        }
        return nil
    }

    /// Skips the rounds in which every tenant of a class is still in debt.
    private func skipRounds(of requestClass: RequestClass) {
        var rounds = Double.infinity
        forEachLine(of: requestClass) { rounds = min(rounds, ((1 - $0.deficit) / $0.weight).rounded(.up) - 1) }
        guard rounds >= 1, rounds.isFinite else { return }
        forEachLine(of: requestClass) { $0.deficit += rounds * $0.weight }
    }

    /// Charges a tenant for additional calls, beyond the one per served element. Has no effect on a tenant without waiting elements.
    public func charge(_ calls: Int, to flow: Flow) {
        guard calls > 0, let line = self[flow.requestClass].byTenant[flow.tenant] else { return }
        line.deficit = max(-Self.largestDebt, line.deficit - Double(min(calls, 1000)))
    }

    // MARK: - All that waits

    /// Calls a closure with each waiting element, flow by flow, in the order of each flow.
    public func forEach(_ body: (Element) -> Void) {
        for requestClass in RequestClass.allCases {
            forEachLine(of: requestClass) { line in
                var node = line.entries.first
                while let current = node {
                    node = entries.next(after: current)
                    body(entries[current].element)
                }
            }
        }
    }

    // MARK: - Forecasts

    /// Returns how many calls are expected to be served before a call that joins the flow now. Later calls that go before
    /// it are not counted. Exact for up to 64 tenants; for more, at most twice the number that the other tenants are really
    /// served.
    public func ahead(of flow: Flow) -> Double {
        ahead(of: self[flow.requestClass].byTenant[flow.tenant]?.entries.count ?? 0, in: flow)
    }

    /// Returns how many calls are expected to be served before the call at this position of its flow.
    public func ahead(of position: Int, in flow: Flow) -> Double {
        let line = self[flow.requestClass].byTenant[flow.tenant]
        return ahead(
            of: position, in: flow.requestClass, line: line, weight: line?.weight ?? terms.weight(of: flow.tenant))
    }

    /// - Parameter position: the number of calls ahead of it in the same flow.
    private func ahead(of position: Int, in requestClass: RequestClass, line: Line?, weight: Double) -> Double {
        let rounds = Double(position + 1) / weight
        let within = Double(position) + served(in: rounds, of: requestClass, besides: line)
        let floor = min(max(terms.batchFloor, 0), 1)
        switch requestClass {
        case .interactive:
            return floor < 1 ? min(within + Double(batch.count), within / (1 - floor)) : within + Double(batch.count)
        case .batch:
            let behindAll = within + Double(interactive.count)
            return floor > 0 ? min(behindAll, (within + 1) / floor - 1) : behindAll
        }
    }

    /// Returns how many calls the lines of a class, except one, serve in this number of rounds.
    private func served(in rounds: Double, of requestClass: RequestClass, besides line: Line?) -> Double {
        guard self[requestClass].round.count > Self.mostExactLines else {
            var served = 0.0
            forEachLine(of: requestClass) { other in
                if other !== line { served += min(Double(other.entries.count), rounds * other.weight) }
            }
            return served
        }

        var sums = self[requestClass].sums
        if let line { sums.remove(count: line.entries.count, weight: line.weight) }
        return sums.served(in: rounds)
    }
}
