import Synchronization

/// A number that a server's thread raises and a test reads.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .acquiring) }
    func add(_ number: Int) { count.add(number, ordering: .acquiringAndReleasing) }
}
