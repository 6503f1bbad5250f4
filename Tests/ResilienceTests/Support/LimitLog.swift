/// What is counted on the owner.
final class Log<Entry> {
    var entries: [Entry] = []
    var count: Int { entries.count }
    func note(_ entry: Entry) { entries.append(entry) }
}

extension Array where Element == Duration {
    /// The most in any second, from any instant on. Sorted.
    var mostInASecond: Int {
        var (first, most) = (0, 0)
        for (index, time) in self.enumerated() {
            while time - self[first] >= .seconds(1) { first += 1 }
            most = Swift.max(most, index - first + 1)
        }
        return most
    }
}
