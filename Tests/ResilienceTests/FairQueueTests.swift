import Basics
import Testing

@testable import Resilience

struct FairQueueTests {
    private static func queue(_ counts: [(Flow, Int)], terms: FairTerms = FairTerms()) -> FairQueue<Flow> {
        let queue = FairQueue<Flow>(terms)
        for (flow, count) in counts {
            for _ in 0..<count { queue.append(flow, in: flow) }
        }
        return queue
    }

    private static func taken(_ count: Int, from queue: FairQueue<Flow>) -> [Flow: Int] {
        (0..<count).reduce(into: [:]) { taken, _ in
            if let flow = queue.popFirst() { taken[flow, default: 0] += 1 }
        }
    }

    @Test func oneFlowIsServedInOrder() {
        let queue = FairQueue<Int>()
        for number in 0..<100 { queue.append(number, in: .standard) }
        #expect((0..<100).map { _ in queue.popFirst() } == (0..<100).map { $0 })
        #expect(queue.isEmpty && queue.popFirst() == nil)
    }

    @Test func batchGetsItsFloorAndNoMoreWhileInteractiveWaits() {
        let batch = Flow(.batch)
        let queue = Self.queue([(batch, 2000), (.standard, 1000)])
        let taken = Self.taken(1000, from: queue)
        #expect(taken[batch] == 50)
        #expect(taken[.standard] == 950)
    }

    @Test func floorOfZeroStarvesAndOneGoesFirst() {
        for (floor, first) in [(0.0, Flow.standard), (1.0, Flow(.batch))] {
            var terms = FairTerms()
            terms.batchFloor = floor
            let queue = Self.queue([(Flow(.batch), 100), (.standard, 100)], terms: terms)
            #expect(Self.taken(100, from: queue) == [first: 100])
        }
    }

    @Test func tenantsTakeTurnsByTheirWeights() {
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

    @Test func whoMadeMoreCallsThanTurnsHasFewerTurns() {
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

    @Test func newcomerIsToldItsPlaceByClassAndTenant() {
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

    @Test func removalKeepsTheOrderAndTheCounts() {
        let queue = FairQueue<Int>()
        let (a, b) = (Flow(.interactive, tenant: "a"), Flow(.batch, tenant: "b"))
        for number in 0..<20 { queue.append(number, in: number.isMultiple(of: 2) ? a : b) }
        #expect(queue.removeAll { $0 >= 10 }.count == 10)
        #expect(queue.count == 10 && queue.count(of: .batch) == 5 && queue.flowCount == 2)
        #expect(queue.popFirst { $0 == .batch } == 1)
        #expect(queue.popFirst() == 0)
        queue.keep { _, ahead in ahead < 1 }
        #expect(queue.flowCount <= 2)
        while queue.popFirst() != nil {}
        #expect(queue.isEmpty && queue.flowCount == 0)
    }
}
