/// The total sizes of a class's lines, grouped by powers of two of the rounds that a line needs. So a forecast over any
/// number of lines reads only a few dozen sums.
struct LineSums {
    private struct Sum {
        var count = 0
        /// Sums of whole numbers, and therefore exact.
        var weight = 0.0
    }

    /// The smallest case: a line of one element with the largest weight, 100, needs less than 2^-6 rounds.
    private static let lowestExponent = -7
    private var sums = [Sum](repeating: Sum(), count: 40)

    /// Adds a line with this number of elements. With the sign -1, removes it.
    mutating func add(count: Int, weight: Double, sign: Int = 1) {
        guard count > 0 else { return }
        let exponent = (Double(count) / weight).exponent - Self.lowestExponent
        let index = min(max(exponent, 0), sums.count - 1)
        sums[index].count += sign * count
        sums[index].weight += Double(sign) * weight
    }

    /// Returns how many elements the lines serve in this number of rounds. If lines become empty within these rounds, the
    /// result is up to twice the real number.
    func served(in rounds: Double) -> Double {
        var served = 0.0
        for (index, sum) in sums.enumerated() where sum.count > 0 {
            let least = Double(sign: .plus, exponent: index + Self.lowestExponent, significand: 1)
            served += rounds <= least ? rounds * sum.weight : min(Double(sum.count), rounds * sum.weight)
        }
        return served
    }
}
