public import Basics
internal import DequeModule

/// Waiting requests, of which the most urgent class goes first, and within a class one tenant after another.
///
/// Interactive requests go before batch ones, which get a floor: one turn in so many. Tenants take turns by deficit round robin
/// (Shreedhar and Varghese, 1996): in each round a tenant has as many turns as its weight, less what it was charged beyond
/// them. A tenant that waits alone has all turns, and with a single flow the queue is first come, first served.
///
/// Not `Sendable`: it belongs to one actor. Each operation costs the same however many requests wait, other than those that say
/// that they go through all of them.
public final class FairQueue<Element> {
    /// What waits of one tenant.
    private final class Line {
        let tenant: String
        let weight: Double
        var elements: Deque<Element> = []
        /// The turns that the tenant has left in this round; negative where it was charged for more.
        var deficit = 0.0

        init(_ tenant: String, weight: Double) {
            self.tenant = tenant
            self.weight = weight
        }
    }

    /// What waits of one class: the lines that are not empty, in the order of their turns.
    private struct Lines {
        var round: Deque<Line> = []
        var byTenant: [String: Line] = [:]
        var count = 0
    }

    /// Turns that a tenant owes at most. What it was charged beyond is forgiven, so that it is never shut out for long.
    private static var largestDebt: Double { 16 }

    private let terms: FairTerms
    private var interactive = Lines()
    private var batch = Lines()
    /// The part of a turn that batch requests have saved up while interactive ones had theirs.
    private var batchCredit = 0.0

    public init(_ terms: FairTerms = FairTerms()) { self.terms = terms }

    // MARK: - What waits

    public var isEmpty: Bool { interactive.count == 0 && batch.count == 0 }

    public var count: Int { interactive.count + batch.count }

    public func count(of requestClass: RequestClass) -> Int { self[requestClass].count }

    /// The number of flows of which something waits.
    public var flowCount: Int { interactive.round.count + batch.round.count }

    /// Returns the tenants of a class of which something waits, with how much, and with what has waited longest.
    public func tenants(of requestClass: RequestClass) -> [(tenant: String, count: Int, first: Element)] {
        self[requestClass].round.map { ($0.tenant, $0.elements.count, $0.elements[0]) }
    }

    private subscript(requestClass: RequestClass) -> Lines {
        _read { if requestClass == .interactive { yield interactive } else { yield batch } }
        _modify { if requestClass == .interactive { yield &interactive } else { yield &batch } }
    }

    // MARK: - In and out

    /// - Returns: true where nothing else of the flow waits.
    @discardableResult
    public func append(_ element: Element, in flow: Flow) -> Bool {
        let line = self[flow.requestClass].byTenant[flow.tenant] ?? addLine(of: flow)
        line.elements.append(element)
        self[flow.requestClass].count += 1
        return line.elements.count == 1
    }

    private func addLine(of flow: Flow) -> Line {
        let line = Line(flow.tenant, weight: terms.weight(of: flow.tenant))
        self[flow.requestClass].byTenant[flow.tenant] = line
        self[flow.requestClass].round.append(line)
        return line
    }

    /// Removes the request whose turn it is.
    /// - Parameter isAllowed: says whether requests of a class may have a turn now.
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
        while let line = self[requestClass].round.first {
            if line.deficit < 1 { line.deficit += line.weight }
            guard line.deficit >= 1 else {
                self[requestClass].round.append(self[requestClass].round.removeFirst())
                continue
            }

            line.deficit -= 1
            let element = line.elements.removeFirst()
            self[requestClass].count -= 1
            if line.elements.isEmpty {
                self[requestClass].round.removeFirst()
                self[requestClass].byTenant[line.tenant] = nil
            } else if line.deficit < 1 {
                self[requestClass].round.append(self[requestClass].round.removeFirst())
            }
            return element
        }
        return nil
    }

    /// Charges a tenant for calls beyond the one that each turn stands for. A tenant of which nothing waits is charged nothing.
    public func charge(_ calls: Int, to flow: Flow) {
        guard calls > 0, let line = self[flow.requestClass].byTenant[flow.tenant] else { return }
        line.deficit = max(-Self.largestDebt, line.deficit - Double(min(calls, 1000)))
    }

    /// Removes what a condition holds for. Goes through all that waits.
    /// - Returns: what was removed, the order of each flow kept.
    @discardableResult
    public func removeAll(where isRemoved: (Element) -> Bool) -> [Element] {
        var removed: [Element] = []
        keep { element, _ in
            let isKept = !isRemoved(element)
            if !isKept { removed.append(element) }
            return isKept
        }
        return removed
    }

    /// Removes what a condition does not hold for. Goes through all that waits.
    /// - Parameter isKept: is told how many requests have their turn before this one, as far as that can be foretold.
    public func keep(where isKept: (Element, _ ahead: Double) -> Bool) {
        for requestClass in RequestClass.allCases {
            for line in self[requestClass].round {
                var kept: Deque<Element> = []
                let others = otherCounts(than: line, in: requestClass)
                for element in line.elements
                where isKept(element, ahead(of: kept.count, in: requestClass, others: others, weight: line.weight)) {
                    kept.append(element)
                }
                self[requestClass].count -= line.elements.count - kept.count
                line.elements = kept
                if kept.isEmpty { self[requestClass].byTenant[line.tenant] = nil }
            }
            self[requestClass].round.removeAll { $0.elements.isEmpty }
        }
    }

    /// Calls a closure with each request that waits.
    public func forEach(_ body: (Element) -> Void) {
        for requestClass in RequestClass.allCases {
            for line in self[requestClass].round { line.elements.forEach(body) }
        }
    }

    // MARK: - Foretelling

    /// Returns how many requests would have their turn before one that came to a flow now, as far as that can be foretold: what
    /// comes later and goes before it is not counted.
    public func ahead(of flow: Flow) -> Double {
        let line = self[flow.requestClass].byTenant[flow.tenant]
        return ahead(
            of: line?.elements.count ?? 0, in: flow.requestClass,
            others: otherCounts(than: line, in: flow.requestClass),
            weight: line?.weight ?? terms.weight(of: flow.tenant))
    }

    private func otherCounts(than line: Line?, in requestClass: RequestClass) -> [(count: Double, weight: Double)] {
        self[requestClass].round.compactMap { other in
            other === line ? nil : (Double(other.elements.count), other.weight)
        }
    }

    /// - Parameter position: how many of the same flow stand before it.
    private func ahead(
        of position: Int, in requestClass: RequestClass, others: [(count: Double, weight: Double)], weight: Double
    ) -> Double {
        let rounds = Double(position + 1) / weight
        let within = others.reduce(Double(position)) { $0 + min($1.count, rounds * $1.weight) }
        let floor = min(max(terms.batchFloor, 0), 1)
        switch requestClass {
        case .interactive:
            return floor < 1 ? min(within + Double(batch.count), within / (1 - floor)) : within + Double(batch.count)
        case .batch:
            let behindAll = within + Double(interactive.count)
            return floor > 0 ? min(behindAll, (within + 1) / floor - 1) : behindAll
        }
    }
}
