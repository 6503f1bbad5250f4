/// Finds the name that somebody who misspelt it meant.
enum Misspelling {
    /// Returns the nearest of `names`, if it is so near that it can hardly be chance.
    /// - Parameter slips: how many the name may hold; `nil`: as many as its length allows.
    static func meant(by name: String, among names: some Sequence<String>, slips: Int? = nil) -> String? {
        let limit = slips ?? allowedSlips(in: name)
        guard limit > 0 else { return nil }

        let distances = names.map { (name: $0, slips: distance(from: name, to: $0, upTo: limit)) }
        return distances.filter { $0.slips <= limit }.min { $0.slips < $1.slips }?.name
    }

    /// Returns the slips that a name of that length may hold. Short words are near each other by chance.
    private static func allowedSlips(in name: String) -> Int {
        switch name.utf8.count {
        case ..<8: 0
        case ..<14: 1
        default: 2
        }
    }

    /// Returns how many letters must be added, dropped, changed, or swapped with their neighbour to turn one name into
    /// the other (the restricted distance of Damerau and Levenshtein); anything above `limit` when it is more than that.
    static func distance(from name: String, to other: String, upTo limit: Int) -> Int {
        let (a, b) = (Array(name.utf8), Array(other.utf8))
        guard (a.count - b.count).magnitude <= limit else { return limit + 1 }

        // Row by row: the distance between the first i letters of one and the first j of the other.
        var secondLast: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices.map({ $0 + 1 }) {
            var row = [i] + [Int](repeating: 0, count: b.count)
            for j in b.indices.map({ $0 + 1 }) {
                let change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
                row[j] = min(last[j] + 1, row[j - 1] + 1, change)

                let isSwap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]
                if isSwap { row[j] = min(row[j], secondLast[j - 2] + 1) }
            }
            (secondLast, last) = (last, row)
        }

        return last[b.count]
    }
}
