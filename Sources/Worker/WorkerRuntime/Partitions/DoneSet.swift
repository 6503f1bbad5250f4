/// The offsets of one partition that are done although an earlier one is not.
package struct DoneSet: Sendable, Hashable {
    /// Ranges of done offsets, in ascending order. No two of them touch.
    package private(set) var runs: [Range<Int64>] = []

    package init() {}

    package var isEmpty: Bool { runs.isEmpty }

    /// The offset after the last done one; `nil` if the set is empty.
    package var end: Int64? { runs.last?.upperBound }

    /// The number of done offsets, including gaps of the log between two done records.
    package var count: Int64 { runs.reduce(0) { $0 + Int64($1.count) } }

    /// Adds offsets behind all that are in the set. Ignores an empty range, and one that is not behind them.
    package mutating func append(_ offsets: Range<Int64>) {
        guard !offsets.isEmpty, offsets.lowerBound >= runs.last?.upperBound ?? .min else { return }

        if let last = runs.last, last.upperBound == offsets.lowerBound {
            runs[runs.count - 1] = last.lowerBound..<offsets.upperBound
        } else {
            runs.append(offsets)
        }
    }

    /// Removes all offsets before `offset`.
    package mutating func removeAll(before offset: Int64) {
        let kept = runs.firstIndex { $0.upperBound > offset } ?? runs.endIndex
        runs.removeFirst(kept)
        guard let first = runs.first, first.lowerBound < offset else { return }
        runs[0] = offset..<first.upperBound
    }

    package func contains(_ offset: Int64) -> Bool {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].upperBound <= offset { low = middle + 1 } else { high = middle }
        }
        return low < runs.count && runs[low].contains(offset)
    }
}
