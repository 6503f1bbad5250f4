/// Entries that a test's callbacks add, in order. Not `Sendable`: it belongs to one isolation.
public final class Log<Entry> {
    public private(set) var entries: [Entry] = []

    public init() {}

    public var count: Int { entries.count }

    public func note(_ entry: Entry) { entries.append(entry) }
}

/// A value that several closures of a test change. Not `Sendable`: it belongs to one isolation.
public final class Box<Value> {
    public var value: Value

    public init(_ value: Value) { self.value = value }
}

extension Array where Element == Duration {
    /// The largest number in any second, from any instant on. The array must be sorted.
    public var mostInASecond: Int {
        var (first, most) = (0, 0)
        for (index, time) in self.enumerated() {
            while time - self[first] >= .seconds(1) { first += 1 }
            most = Swift.max(most, index - first + 1)
        }
        return most
    }
}
