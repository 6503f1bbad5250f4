public import Basics

/// The order in which waiting calls are served: the most urgent class first, and within a class fairly between tenants.
///
/// Interactive calls go before batch calls, but batch calls have a guaranteed minimum share. Tenants are served by deficit
/// round robin (Shreedhar and Varghese, 1996). In each round a tenant is served as many calls as its weight, less its debt
/// from additional charges. A single waiting tenant is served every time, and with a single flow the order is first come,
/// first served.
///
/// Calls may belong to groups, which have limits of their own. A group that may not be served delays no other one. Within a
/// class, one call of each group that may be served follows another.
///
/// Not `Sendable`: it belongs to one actor. Each operation takes constant time, unless its comment states that it visits
/// all calls or tenants.
public final class CallOrder<Element> {
    /// Identifies a waiting element, so that it can be removed without a search.
    public struct Ticket {
        let node: Int
        let serial: UInt64
    }

    struct Entry {
        let element: Element
        let line: Line
        let serial: UInt64
        let owner: ObjectIdentifier?
    }

    /// The waiting calls of one tenant.
    final class Line {
        let flow: Flow
        let group: Int
        let weight: Double
        var entries = LinkedLists<Entry>.List()
        /// The calls that the tenant may still be served in this round; negative if it has a debt from additional charges.
        var deficit = 0.0
        /// The line's node in the round of its class.
        var node = 0

        init(_ flow: Flow, in group: Int, weight: Double) {
            (self.flow, self.group, self.weight) = (flow, group, weight)
        }
    }

    /// The waiting calls of one class and group: the non-empty lines, in the order in which they are served.
    struct Lines {
        var round = LinkedLists<Line>.List()
        var byTenant: [String: Line] = [:]
        var sums = LineSums()
        var count = 0
    }

    /// The largest debt of a tenant, in calls. Larger debts are reduced to this, so that a tenant is never shut out for long.
    private static var largestDebt: Double { 16 }
    /// Up to this number of lines, a forecast visits each line and is exact.
    static var mostExactLines: Int { 64 }

    let terms: FairTerms
    private var entries = LinkedLists<Entry>()
    private var lines = LinkedLists<Line>()
    /// The waiting calls of each class, by group.
    private(set) var (interactive, batch): ([Lines], [Lines])
    private var counts = (interactive: 0, batch: 0)
    /// The group that is served next if it may be, by class.
    private var nextGroup = (interactive: 0, batch: 0)
    private var owned: [ObjectIdentifier: Ticket] = [:]
    private var lastSerial: UInt64 = 0
    /// The fraction of a call that batch requests have saved up while interactive calls were served.
    private var batchCredit = 0.0

    /// - Parameter groups: the number of groups, from 1.
    public init(_ terms: FairTerms = FairTerms(), groups: Int = 1) {
        self.terms = terms
        interactive = Array(repeating: Lines(), count: groups)
        batch = interactive
    }

    // MARK: - What waits

    public var isEmpty: Bool { counts == (0, 0) }

    public var count: Int { counts.interactive + counts.batch }

    public func count(of requestClass: RequestClass) -> Int {
        requestClass == .interactive ? counts.interactive : counts.batch
    }

    public func count(of requestClass: RequestClass, in group: Int) -> Int { self[requestClass, group].count }

    public func count(of flow: Flow, in group: Int) -> Int {
        self[flow.requestClass, group].byTenant[flow.tenant]?.entries.count ?? 0
    }

    /// The number of flows with waiting elements. A flow counts once in each group.
    public var flowCount: Int { (interactive + batch).reduce(0) { $0 + $1.round.count } }

    public func flowCount(in group: Int) -> Int { interactive[group].round.count + batch[group].round.count }

    /// Returns the tenants of a class that have waiting elements, with the number of elements and the first one. Visits all tenants.
    public func tenants(of requestClass: RequestClass) -> [(tenant: String, count: Int, first: Element)] {
        var tenants: [(tenant: String, count: Int, first: Element)] = []
        forEachLine(of: requestClass) { line in
            guard let first = line.entries.first else { return }
            tenants.append((line.flow.tenant, line.entries.count, entries[first].element))
        }
        return tenants
    }

    private(set) subscript(requestClass: RequestClass, group: Int) -> Lines {
        _read { if requestClass == .interactive { yield interactive[group] } else { yield batch[group] } }
        _modify { if requestClass == .interactive { yield &interactive[group] } else { yield &batch[group] } }
    }

    func forEachLine(of requestClass: RequestClass, in group: Int, _ body: (Line) -> Void) {
        var node = self[requestClass, group].round.first
        while let current = node {
            body(lines[current])
            node = lines.next(after: current)
        }
    }

    private func forEachLine(of requestClass: RequestClass, _ body: (Line) -> Void) {
        for group in interactive.indices { forEachLine(of: requestClass, in: group, body) }
    }

    // MARK: - In and out

    /// - Parameter owner: the object by which `move` finds the element. It owns at most one waiting element.
    /// - Parameter former: the ticket of an element that has left this flow. It returns to its place in the
    ///   flow, and the elements before it are visited.
    /// - Returns: the element's ticket, and whether it is the only waiting element of the flow.
    @discardableResult
    public func append(
        _ element: Element, in flow: Flow, group: Int = 0, for owner: AnyObject? = nil, former: Ticket? = nil
    ) -> (ticket: Ticket, isOnlyOfFlow: Bool) {
        let owner = owner.map(ObjectIdentifier.init)
        let line = self[flow.requestClass, group].byTenant[flow.tenant] ?? addLine(of: flow, in: group)
        if former == nil { lastSerial += 1 }
        let serial = former?.serial ?? lastSerial
        let entry = Entry(element: element, line: line, serial: serial, owner: owner)
        let next = former.flatMap { firstEntry(behind: $0.serial, of: line) }
        let node = changeCount(of: line) { entries.add(entry, to: &line.entries, before: next) }
        let ticket = Ticket(node: node, serial: serial)
        if let owner { owned[owner] = ticket }
        return (ticket, line.entries.count == 1)
    }

    /// Returns the first entry of a line that came after the one with the serial number. Visits the earlier ones.
    private func firstEntry(behind serial: UInt64, of line: Line) -> Int? {
        var node = line.entries.first
        while let current = node, entries[current].serial < serial { node = entries.next(after: current) }
        return node
    }

    private func addLine(of flow: Flow, in group: Int) -> Line {
        let line = Line(flow, in: group, weight: terms.weight(of: flow.tenant))
        self[flow.requestClass, group].byTenant[flow.tenant] = line
        line.node = lines.add(line, to: &self[flow.requestClass, group].round)
        return line
    }

    /// Updates the counts and sums of a line's class after a change of the line.
    private func changeCount<Result>(of line: Line, _ change: () -> Result) -> Result {
        let before = line.entries.count
        let result = change()
        let after = line.entries.count
        let (requestClass, group) = (line.flow.requestClass, line.group)
        self[requestClass, group].sums.add(count: before, weight: line.weight, sign: -1)
        self[requestClass, group].sums.add(count: after, weight: line.weight)
        self[requestClass, group].count += after - before
        if requestClass == .interactive { counts.interactive += after - before } else { counts.batch += after - before }
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
            lines.remove(line.node, from: &self[line.flow.requestClass, line.group].round)
            self[line.flow.requestClass, line.group].byTenant[line.flow.tenant] = nil
        }
        if let owner = entry.owner { owned[owner] = nil }
        return entry
    }

    /// Moves an owner's element to the end of another flow.
    /// - Returns: the element and its new ticket; `nil` if the owner has no waiting element.
    public func move(elementOf owner: AnyObject, to flow: Flow) -> (element: Element, ticket: Ticket)? {
        guard let ticket = owned[ObjectIdentifier(owner)] else { return nil }
        let entry = remove(at: ticket.node)
        return (entry.element, append(entry.element, in: flow, group: entry.line.group, for: owner).ticket)
    }

    /// Removes the element that is served next.
    /// - Parameter isAllowed: returns whether calls of a class and group may be served now.
    public func popFirst(where isAllowed: (RequestClass, _ group: Int) -> Bool = { _, _ in true }) -> Element? {
        let interactive = firstGroup(of: .interactive, where: isAllowed)
        guard let batch = firstGroup(of: .batch, where: isAllowed) else {
            return interactive.flatMap { pop(from: .interactive, $0) }
        }
        guard let interactive else { return pop(from: .batch, batch) }

        batchCredit = min(1, batchCredit + terms.batchFloor)
        guard batchCredit >= 1 - 1e-9 else { return pop(from: .interactive, interactive) }
        batchCredit = 0
        return pop(from: .batch, batch)
    }

    /// Returns the next group of a class with waiting elements that may be served.
    private func firstGroup(of requestClass: RequestClass, where isAllowed: (RequestClass, Int) -> Bool) -> Int? {
        guard count(of: requestClass) > 0 else { return nil }
        let next = requestClass == .interactive ? nextGroup.interactive : nextGroup.batch
        for offset in interactive.indices {
            let group = (next + offset) % interactive.count
            if self[requestClass, group].count > 0, isAllowed(requestClass, group) { return group }
        }
        return nil
    }

    private func pop(from requestClass: RequestClass, _ group: Int) -> Element? {
        let next = (group + 1) % interactive.count
        if requestClass == .interactive { nextGroup.interactive = next } else { nextGroup.batch = next }
        var skipped = 0
        while let first = self[requestClass, group].round.first {
            let line = lines[first]
            if line.deficit < 1 { line.deficit += line.weight }
            guard line.deficit >= 1, let node = line.entries.first else {
                lines.rotate(&self[requestClass, group].round)
                skipped += 1
                if skipped == self[requestClass, group].round.count { skipRounds(of: requestClass, group) }
                continue
            }

            line.deficit -= 1
            let entry = remove(at: node)
            if !line.entries.isEmpty, line.deficit < 1 { lines.rotate(&self[requestClass, group].round) }
            return entry.element
        }
        return nil
    }

    /// Skips the rounds in which every tenant of a class and group is still in debt.
    private func skipRounds(of requestClass: RequestClass, _ group: Int) {
        var rounds = Double.infinity
        forEachLine(of: requestClass, in: group) {
            rounds = min(rounds, ((1 - $0.deficit) / $0.weight).rounded(.up) - 1)
        }
        guard rounds >= 1, rounds.isFinite else { return }
        forEachLine(of: requestClass, in: group) { $0.deficit += rounds * $0.weight }
    }

    /// Charges a tenant for additional calls, beyond the one per served element. Has no effect on a tenant without waiting elements.
    public func charge(_ calls: Int, to flow: Flow, in group: Int = 0) {
        guard calls > 0, let line = self[flow.requestClass, group].byTenant[flow.tenant] else { return }
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
}
