/// How much the lines of a class hold together, by powers of two of the rounds that a line needs. A forecast over any number of
/// lines therefore looks at a few dozen sums.
struct LineSums {
    private struct Sum {
        var count = 0
        /// Sums of whole numbers, and so exact.
        var weight = 0.0
    }

    /// A line of one element and the largest weight, 100, needs less than 2^-6 rounds.
    private static let lowestExponent = -7
    private var sums = [Sum](repeating: Sum(), count: 40)

    private func index(count: Int, weight: Double) -> Int {
        min(max((Double(count) / weight).exponent - Self.lowestExponent, 0), sums.count - 1)
    }

    /// Counts a line of so many elements in, or out.
    mutating func add(count: Int, weight: Double) {
        guard count > 0 else { return }
        let index = index(count: count, weight: weight)
        sums[index].count += count
        sums[index].weight += weight
    }

    mutating func remove(count: Int, weight: Double) {
        guard count > 0 else { return }
        let index = index(count: count, weight: weight)
        sums[index].count -= count
        sums[index].weight -= weight
    }

    /// Returns how many elements the lines serve in so many rounds. Where lines end within these rounds, up to twice as many
    /// as they really serve.
    func served(in rounds: Double) -> Double {
        var served = 0.0
        for (index, sum) in sums.enumerated() where sum.count > 0 {
            let least = Double(sign: .plus, exponent: index + Self.lowestExponent, significand: 1)
            served += rounds <= least ? rounds * sum.weight : min(Double(sum.count), rounds * sum.weight)
        }
        return served
    }
}
