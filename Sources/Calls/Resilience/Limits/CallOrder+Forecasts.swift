public import Basics

/// How long calls are expected to wait.
extension CallOrder {
    /// Returns how many calls are expected to be served before a call of the flow. Later calls that go before it are not
    /// counted. Exact for up to 64 tenants of one group; for more, at most twice the number that the other tenants are
    /// really served.
    /// - Parameter position: the call's position in its flow; `nil` for a call that joins the flow now.
    /// - Parameter isCounted: returns whether calls of another group count.
    public func ahead(
        of flow: Flow, in group: Int = 0, at position: Int? = nil, counting isCounted: (Int) -> Bool = { _ in true }
    ) -> Double {
        let position = position ?? count(of: flow, in: group)
        let line = self[flow.requestClass, group].byTenant[flow.tenant]
        let weight = line?.weight ?? terms.weight(of: flow.tenant)
        let rounds = Double(position + 1) / weight
        let own = Double(position) + served(in: rounds, of: flow.requestClass, group, besides: line)
        var within = own
        var others = 0
        for other in interactive.indices where isCounted(other) {
            // One call of each group follows another.
            if other != group { within += min(own + 1, Double(self[flow.requestClass, other].count)) }
            others += flow.requestClass == .interactive ? batch[other].count : interactive[other].count
        }

        let floor = min(max(terms.batchFloor, 0), 1)
        let withAllOthers = within + Double(others)
        switch flow.requestClass {
        case .interactive: return floor < 1 ? min(withAllOthers, within / (1 - floor)) : withAllOthers
        case .batch: return floor > 0 ? min(withAllOthers, (within + 1) / floor - 1) : withAllOthers
        }
    }

    /// Returns how many calls the lines of a class and group, except one, serve in this number of rounds.
    private func served(in rounds: Double, of requestClass: RequestClass, _ group: Int, besides line: Line?) -> Double {
        guard self[requestClass, group].round.count > Self.mostExactLines else {
            var served = 0.0
            forEachLine(of: requestClass, in: group) { other in
                if other !== line { served += min(Double(other.entries.count), rounds * other.weight) }
            }
            return served
        }

        var sums = self[requestClass, group].sums
        if let line { sums.add(count: line.entries.count, weight: line.weight, sign: -1) }
        return sums.served(in: rounds)
    }
}
