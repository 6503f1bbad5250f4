import SimulatedLoop

/// The part of the plan about topics, sizes, and the producers of requests.
extension FleetPlan {
    /// A transaction in which a request is written.
    struct RequestTransaction: Sendable {
        /// The time for which the transaction stays open.
        var seconds: Double
    }

    /// The keyword of a request in an aborted transaction. No worker may make a call for it.
    static let abortedKeyword = "aborted"
    /// The size of a large answer, and of a large invalid record: above a lowered limit, and below the usual one.
    static let largeBytes = 30_000

    /// Returns true for a keyword whose answer is large.
    func isLarge(_ keyword: String) -> Bool {
        guard hasLargeAnswers, let number = Int(keyword.dropFirst()) else { return false }
        return number % 8 == 3
    }

    /// Adds answers and records that topics reject because of their size.
    mutating func makeSizes(_ random: inout SeededGenerator) {
        guard random.chance(0.15) else { return }
        hasLargeAnswers = true
        if random.chance(0.7) { sizeLimits["results"] = 20_000 }
        guard random.chance(0.5) else { return }
        sizeLimits["dead-letters"] = 20_000
        for index in requests.indices where !requests[index].isValid { requests[index].padding = Self.largeBytes }
    }

    /// Makes some requests come from transactional producers.
    mutating func makeTransactions(_ random: inout SeededGenerator) {
        guard random.chance(0.15) else { return }
        let part = Double.random(in: 0.02...0.4, using: &random)
        for request in requests where random.chance(part) {
            let seconds = random.chance(0.8) ? 0.05 : Double.random(in: 0.1...3, using: &random)
            transactions[request.number] = RequestTransaction(seconds: seconds)
        }
    }

    /// Makes a few fleets larger, with more partitions. Each member reads the messages of all others, so the cost of a schedule grows
    /// with the square of their number.
    mutating func makeLarger(_ random: inout SeededGenerator) {
        if random.chance(0.04) { lanes = 3 }
        guard random.chance(0.03) else { return }
        members = Int.random(in: 5...8, using: &random)
        lanes = 1
        partitions = Int32.random(in: 6...24, using: &random)
        for index in requests.indices {
            let partition = Int32.random(in: 0..<partitions, using: &random)
            if random.chance(0.7) { requests[index].partition = partition }
        }
        guard !faults.isEmpty else { return }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let time = Double.random(in: 1...30, using: &random)
            faults.append(Fault(time: time, kind: .draw(&random, members: members, brokers: brokers)))
        }
        faults.sort { $0.time < $1.time }
    }
}
