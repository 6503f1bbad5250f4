import Basics
import TestSupport
import Testing

@testable import Resilience

struct CallOrderTests {
    private static func queue(_ counts: [(Flow, Int)], terms: FairTerms = FairTerms()) -> CallOrder<Flow> {
        let queue = CallOrder<Flow>(terms)
        for (flow, count) in counts {
            for _ in 0..<count { queue.append(flow, in: flow) }
        }
        return queue
    }

    private static func taken(_ count: Int, from queue: CallOrder<Flow>) -> [Flow: Int] {
        (0..<count).reduce(into: [:]) { taken, _ in
            if let flow = queue.popFirst() { taken[flow, default: 0] += 1 }
        }
    }

    @Test func `Batch calls get only their floor while interactive calls wait`() {
        let batch = Flow(.batch)
        let queue = Self.queue([(batch, 2000), (.standard, 1000)])
        let taken = Self.taken(1000, from: queue)
        #expect(taken[batch] == 50)
        #expect(taken[.standard] == 950)
    }

    @Test func `A floor of zero starves batch calls, and a floor of one serves them first`() {
        for (floor, first) in [(0.0, Flow.standard), (1.0, Flow(.batch))] {
            var terms = FairTerms()
            terms.batchFloor = floor
            let queue = Self.queue([(Flow(.batch), 100), (.standard, 100)], terms: terms)
            #expect(Self.taken(100, from: queue) == [first: 100])
        }
    }

    @Test func `Elements return to their places in their flow`() {
        let queue = CallOrder<Int>()
        let tickets = (0..<6).map { queue.append($0, in: .standard).ticket }
        for ticket in tickets.prefix(5) { queue.remove(ticket) }
        for number in [3, 1, 4, 0, 2] { queue.append(number, in: .standard, former: tickets[number]) }
        queue.append(6, in: .standard)
        #expect((0..<7).map { _ in queue.popFirst() } == [0, 1, 2, 3, 4, 5, 6])
    }

    @Test func `Tenants take turns by their weights`() {
        var terms = FairTerms()
        terms.weights = ["b": 3]
        let (a, b, c) = (
            Flow(.interactive, tenant: "a"), Flow(.interactive, tenant: "b"), Flow(.interactive, tenant: "c")
        )
        let queue = Self.queue([(a, 1000), (b, 1000), (c, 5)], terms: terms)
        let taken = Self.taken(100, from: queue)
        #expect(taken[c] == 5)
        #expect((70...73).contains(taken[b] ?? 0))
    }

    @Test func `A flow that made more calls than its turns has fewer turns`() {
        let (a, b) = (Flow(.interactive, tenant: "a"), Flow(.interactive, tenant: "b"))
        let queue = Self.queue([(a, 1000), (b, 1000)])
        var turns: [Flow: Int] = [:]
        for _ in 0..<300 {
            guard let flow = queue.popFirst() else { break }
            turns[flow, default: 0] += 1
            if flow == a { queue.charge(1, to: a) }
        }
        #expect((95...105).contains(turns[a] ?? 0))
    }

    @Test func `The position of a new call depends on its class and tenant`() {
        let flood = Flow(.interactive, tenant: "flood")
        let queue = Self.queue([(flood, 1000), (Flow(.batch), 1000)])
        #expect(queue.ahead(of: Flow(.interactive, tenant: "quiet")) < 2)
        #expect(queue.ahead(of: flood) >= 1000)
        #expect(queue.ahead(of: Flow(.batch)) == 2000)
        #expect(Self.queue([(.standard, 7)]).ahead(of: .standard) == 7)

        let order = Self.queue([(flood, 50), (Flow(.batch), 50)])
        let foretold = order.ahead(of: Flow(.interactive, tenant: "quiet"))
        order.append(Flow(.interactive, tenant: "quiet"), in: Flow(.interactive, tenant: "quiet"))
        var real = 0
        while let flow = order.popFirst(), flow.tenant != "quiet" { real += 1 }
        #expect(abs(Double(real) - foretold) <= 2)
    }

    // MARK: - Comparison with the simple algorithm

    @Test(arguments: 1...40)
    func `The order and the forecast are those of the simple algorithm`(seed: UInt64) {
        var random = SplitMix64(state: seed)
        var terms = FairTerms()
        terms.batchFloor = [0, 0.05, 0.3, 1].randomElement(using: &random) ?? 0
        terms.weights = ["t1": 3, "t2": 7, "t3": 100]
        let (order, plain) = (CallOrder<Int>(terms), PlainOrder(terms))
        var tickets: [(number: Int, ticket: CallOrder<Int>.Ticket)] = []

        for number in 0..<2_000 {
            let flow = Flow(
                Bool.random(using: &random) ? .interactive : .batch,
                tenant: "t\(Int.random(in: 0..<40, using: &random))")
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                tickets.append((number, order.append(number, in: flow).ticket))
                plain.append(number, in: flow)
            case 5..<7:
                let isAllowed: (RequestClass) -> Bool = { $0 == .interactive || number % 3 > 0 }
                let next = order.popFirst { requestClass, _ in isAllowed(requestClass) }
                #expect(next == plain.popFirst(where: isAllowed))
            case 7:
                let calls = Int.random(in: 1...20, using: &random)
                order.charge(calls, to: flow)
                plain.charge(calls, to: flow)
            case 8:
                guard let (removed, ticket) = tickets.randomElement(using: &random) else { continue }
                #expect(order.remove(ticket) == plain.remove(removed))
            default:
                #expect(abs(order.ahead(of: flow) - plain.ahead(of: flow)) < 1e-6)
            }
            #expect(order.count == plain.count && order.flowCount == plain.flowCount)
        }
        while let served = plain.popFirst() { #expect(order.popFirst() == served) }
        #expect(order.isEmpty)
    }

    @Test func `A forecast over many tenants is at most twice the real position`() {
        var random = SplitMix64(state: 7)
        let (order, plain) = (CallOrder<Int>(), PlainOrder(FairTerms()))
        for number in 0..<5_000 {
            let flow = Flow(
                .interactive,
                tenant: "t\(Int(Double.random(in: 0..<22, using: &random) * Double.random(in: 0..<22, using: &random)))"
            )
            order.append(number, in: flow)
            plain.append(number, in: flow)
        }
        #expect(order.flowCount > 64)
        for tenant in 0..<480 {
            let flow = Flow(.interactive, tenant: "t\(tenant)")
            let (told, real) = (order.ahead(of: flow), plain.ahead(of: flow))
            #expect(told >= real - 1e-6 && told <= 2 * real + 1, "\(tenant): \(told), really \(real)")
        }
    }

    @Test func `A promoted element keeps its owner and loses its old ticket`() throws {
        final class Owner {}
        let (order, owner) = (CallOrder<String>(), Owner())
        let old = order.append("call", in: Flow(.batch), for: owner).ticket
        order.append("other", in: .standard)

        let moved = try #require(order.move(elementOf: owner, to: .standard))
        #expect(order.remove(old) == nil)
        #expect(order.count(of: .batch) == 0 && order.count(of: .interactive) == 2)
        #expect(order.remove(moved.ticket) == "call")
        #expect(order.move(elementOf: owner, to: .standard) == nil)
    }

    // MARK: - Scale

    /// A linear search for each removal would take minutes here.
    @Test(.timeLimit(.minutes(1)))
    func `Thirty thousand tenants are served, charged, forecast and removed`() {
        let order = CallOrder<Int>()
        var tickets: [CallOrder<Int>.Ticket] = []
        for number in 0..<100_000 {
            tickets.append(order.append(number, in: Flow(.interactive, tenant: "t\(number % 30_000)")).ticket)
        }
        for number in 0..<30_000 { order.charge(16, to: Flow(.interactive, tenant: "t\(number)")) }

        for number in stride(from: 0, to: 100_000, by: 2) {
            #expect(order.ahead(of: Flow(.interactive, tenant: "t\(number % 30_000)")) > 0)
            #expect(order.remove(tickets[number]) == number)
        }
        var served = 0
        while order.popFirst() != nil { served += 1 }
        #expect(served == 50_000 && order.isEmpty && order.flowCount == 0)
    }
}

/// The same rules in the simplest form, which iterates over all waiting calls for nearly every operation.
private final class PlainOrder {
    private final class Line {
        let flow: Flow
        let weight: Double
        var numbers: [Int] = []
        var deficit = 0.0
        init(_ flow: Flow, weight: Double) { (self.flow, self.weight) = (flow, weight) }
    }
    private let terms: FairTerms
    private var rounds: [RequestClass: [Line]] = [.interactive: [], .batch: []]
    private var batchCredit = 0.0

    init(_ terms: FairTerms) { self.terms = terms }

    private func lines(_ requestClass: RequestClass) -> [Line] { rounds[requestClass] ?? [] }
    private func count(_ requestClass: RequestClass) -> Int { lines(requestClass).reduce(0) { $0 + $1.numbers.count } }
    private func line(_ flow: Flow) -> Line? { lines(flow.requestClass).first { $0.flow == flow } }
    var count: Int { count(.interactive) + count(.batch) }
    var flowCount: Int { lines(.interactive).count + lines(.batch).count }

    func append(_ number: Int, in flow: Flow) {
        let known = line(flow)
        let line = known ?? Line(flow, weight: terms.weight(of: flow.tenant))
        if known == nil { rounds[flow.requestClass]?.append(line) }
        line.numbers.append(number)
    }

    func remove(_ number: Int) -> Int? {
        for requestClass in RequestClass.allCases {
            guard let index = lines(requestClass).firstIndex(where: { $0.numbers.contains(number) }) else { continue }
            lines(requestClass)[index].numbers.removeAll { $0 == number }
            if lines(requestClass)[index].numbers.isEmpty { rounds[requestClass]?.remove(at: index) }
            return number
        }
        return nil
    }

    func charge(_ calls: Int, to flow: Flow) {
        if let line = line(flow) { line.deficit = max(-16, line.deficit - Double(calls)) }
    }

    func popFirst(where isAllowed: (RequestClass) -> Bool = { _ in true }) -> Int? {
        let interactive = count(.interactive) > 0 && isAllowed(.interactive)
        let batch = count(.batch) > 0 && isAllowed(.batch)
        guard interactive && batch else { return interactive ? pop(.interactive) : batch ? pop(.batch) : nil }
        batchCredit = min(1, batchCredit + terms.batchFloor)
        guard batchCredit >= 1 - 1e-9 else { return pop(.interactive) }
        batchCredit = 0
        return pop(.batch)
    }

    private func pop(_ requestClass: RequestClass) -> Int? {
        while let line = lines(requestClass).first {
            if line.deficit < 1 { line.deficit += line.weight }
            if line.deficit >= 1 {
                line.deficit -= 1
                let number = line.numbers.removeFirst()
                if line.numbers.isEmpty {
                    rounds[requestClass]?.removeFirst()
                } else if line.deficit < 1 {
                    rounds[requestClass]?.append(line)
                    rounds[requestClass]?.removeFirst()
                }
                return number
            }
            rounds[requestClass]?.append(line)
            rounds[requestClass]?.removeFirst()
        }
        return nil
    }

    func ahead(of flow: Flow) -> Double {
        let own = line(flow)
        let position = Double(own?.numbers.count ?? 0)
        let served = (position + 1) / (own?.weight ?? terms.weight(of: flow.tenant))
        let within = lines(flow.requestClass).filter { $0 !== own }
            .reduce(position) { $0 + min(Double($1.numbers.count), served * $1.weight) }
        let floor = terms.batchFloor
        switch flow.requestClass {
        case .interactive:
            let all = within + Double(count(.batch))
            return floor < 1 ? min(all, within / (1 - floor)) : all
        case .batch:
            let all = within + Double(count(.interactive))
            return floor > 0 ? min(all, (within + 1) / floor - 1) : all
        }
    }
}
