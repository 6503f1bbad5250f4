/// Finds what somebody who misspelt a setting meant.
enum Misspelling {
    /// - Returns: the name that is nearest, if it is near enough to be no chance.
    static func meant(by name: String, among names: some Sequence<String>) -> String? {
        let limit = allowance(name)
        guard limit > 0 else { return nil }
        return names.map { ($0, distance(name, $0, upTo: limit)) }.filter { $0.1 <= limit }.min { $0.1 < $1.1 }?.0
    }

    /// Slips that a name of that length may hold: short words are near each other by chance.
    private static func allowance(_ name: String) -> Int {
        switch name.utf8.count {
        case ..<8: 0
        case ..<14: 1
        default: 2
        }
    }

    /// Letters to add, drop, change, or swap with their neighbour (Damerau and Levenshtein, restricted).
    /// - Returns: anything above `limit` when it is more than that.
    static func distance(_ a: String, _ b: String, upTo limit: Int) -> Int {
        let (a, b) = (Array(a.utf8), Array(b.utf8))
        guard abs(a.count - b.count) <= limit else { return limit + 1 }
        var before: [Int] = []
        var last = Array(0...b.count)
        for i in 1...max(1, a.count) where i <= a.count {
            var row = [i] + [Int](repeating: 0, count: b.count)
            for j in 1...max(1, b.count) where j <= b.count {
                row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { row[j] = min(row[j], before[j - 2] + 1) }
            }
            (before, last) = (last, row)
        }
        return last[b.count]
    }
}
