/// Finds the name that was probably meant by a misspelt one.
enum Misspelling {
    /// Returns the nearest of `names`, if it is close enough that a coincidence is unlikely.
    /// - Parameter slips: the maximum number of mistakes; `nil`: depends on the length of the name.
    static func meant(by name: String, among names: some Sequence<String>, slips: Int? = nil) -> String? {
        let limit = slips ?? allowedSlips(in: name)
        guard limit > 0 else { return nil }

        let distances = names.map { (name: $0, slips: distance(from: name, to: $0, upTo: limit)) }
        return distances.filter { $0.slips <= limit }.min { $0.slips < $1.slips }?.name
    }

    /// Returns the maximum number of mistakes for a name. Short words often resemble each other by coincidence.
    private static func allowedSlips(in name: String) -> Int {
        switch name.utf8.count {
        case ..<8: 0
        case ..<14: 1
        default: 2
        }
    }

    /// Returns how many letters must be added, removed, changed, or swapped with their neighbour to turn one name into
    /// the other. This is the restricted Damerau-Levenshtein distance. If it exceeds `limit`, any number above `limit`
    /// is returned.
    static func distance(from name: String, to other: String, upTo limit: Int) -> Int {
        let (a, b) = (Array(name.utf8), Array(other.utf8))
        guard (a.count - b.count).magnitude <= limit else { return limit + 1 }

        // Computed row by row: the distance between the first i letters of one name and the first j of the other.
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
