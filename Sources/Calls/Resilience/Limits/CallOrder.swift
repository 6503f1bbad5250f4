public import Basics

/// The order in which waiting calls are served: the most urgent class first, and within a class one tenant after another.
///
/// Interactive calls go before batch ones, which get a floor: one call in so many. Tenants take turns by deficit round robin
/// (Shreedhar and Varghese, 1996): in each round a tenant is served as many calls as its weight, less what it was charged beyond
/// them. A tenant that waits alone is served every time, and with a single flow the order is first come, first served.
///
/// Not `Sendable`: it belongs to one actor. Each operation costs the same however many calls wait, unless its comment says
/// that it goes through all of them.
public final class CallOrder<Element> {
    /// Names a waiting element, so that it can be removed without a search.
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
        /// The calls that the tenant may still be served in this round; negative where it was charged for more.
        var deficit = 0.0
        /// The place of the line in its class's round.
        var node = 0

        init(_ flow: Flow, weight: Double) {
            self.flow = flow
            self.weight = weight
        }
    }

    /// The waiting calls of one class: the lines that are not empty, in the order in which they are served.
    private struct Lines {
        var round = LinkedLists<Line>.List()
        var byTenant: [String: Line] = [:]
        var sums = LineSums()
        var count = 0
    }

    /// Calls that a tenant owes at most. What it was charged beyond is forgiven, so that it is never shut out for long.
    private static var largestDebt: Double { 16 }
    /// Up to so many lines a forecast looks at each, and is exact.
    private static var mostExactLines: Int { 64 }

    private let terms: FairTerms
    private var entries = LinkedLists<Entry>()
    private var lines = LinkedLists<Line>()
    private var interactive = Lines()
    private var batch = Lines()
    private var owned: [ObjectIdentifier: Ticket] = [:]
    private var lastSerial: UInt64 = 0
    /// The part of a call that batch requests have saved up while interactive ones were served.
    private var batchCredit = 0.0

    public init(_ terms: FairTerms = FairTerms()) { self.terms = terms }

    // MARK: - What waits

    public var isEmpty: Bool { interactive.count == 0 && batch.count == 0 }

    public var count: Int { interactive.count + batch.count }

    public func count(of requestClass: RequestClass) -> Int { self[requestClass].count }

    /// The number of flows of which something waits.
    public var flowCount: Int { interactive.round.count + batch.round.count }

    /// Returns the tenants of a class of which something waits, with how much, and with what has waited longest. Goes through all
    /// tenants.
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

    /// - Parameter owner: the object by which `move` finds the element. It owns one waiting element at most.
    /// - Returns: the element's ticket, and whether nothing else of the flow waits.
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

    /// Keeps the counts and sums of a line's class in step with a change of the line.
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

    /// Returns true while an element waits.
    public func contains(_ ticket: Ticket) -> Bool {
        entries.contains(ticket.node) && entries[ticket.node].serial == ticket.serial
    }

    /// Removes an element.
    /// - Returns: `nil` where the element has left before.
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

    /// Has the element of an owner wait in another flow, behind what waits there.
    /// - Returns: the element and its new ticket; `nil` where none of the owner waits.
    public func move(elementOf owner: AnyObject, to flow: Flow) -> (element: Element, ticket: Ticket)? {
        guard let ticket = owned[ObjectIdentifier(owner)] else { return nil }
        let entry = remove(at: ticket.node)
        return (entry.element, append(entry.element, in: flow, owner: entry.owner).ticket)
    }

    /// Removes the element that is served next.
    /// - Parameter isAllowed: says whether calls of a class may be served now.
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

    /// Passes at once over the rounds in which every tenant of a class is still in debt.
    private func skipRounds(of requestClass: RequestClass) {
        var rounds = Double.infinity
        forEachLine(of: requestClass) { rounds = min(rounds, ((1 - $0.deficit) / $0.weight).rounded(.up) - 1) }
        guard rounds >= 1, rounds.isFinite else { return }
        forEachLine(of: requestClass) { $0.deficit += rounds * $0.weight }
    }

    /// Charges a tenant for calls beyond the one for which each element was served. A tenant of which nothing waits is charged nothing.
    public func charge(_ calls: Int, to flow: Flow) {
        guard calls > 0, let line = self[flow.requestClass].byTenant[flow.tenant] else { return }
        line.deficit = max(-Self.largestDebt, line.deficit - Double(min(calls, 1000)))
    }

    // MARK: - All that waits

    /// Calls a closure with each element that waits, one flow after another and each in its order.
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

    /// Returns how many calls are expected to be served before one that comes to a flow now: those that come later and go before
    /// it are not counted. Exact for up to 64 tenants; for more, at most twice the number that the others really have served.
    public func ahead(of flow: Flow) -> Double {
        ahead(of: self[flow.requestClass].byTenant[flow.tenant]?.entries.count ?? 0, in: flow)
    }

    /// Returns how many calls are expected to be served before one that has so many of its flow before it.
    public func ahead(of position: Int, in flow: Flow) -> Double {
        let line = self[flow.requestClass].byTenant[flow.tenant]
        return ahead(
            of: position, in: flow.requestClass, line: line, weight: line?.weight ?? terms.weight(of: flow.tenant))
    }

    /// - Parameter position: how many of the same flow are before it.
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

    /// Returns how many calls the lines of a class, one of them left out, serve in so many rounds.
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
