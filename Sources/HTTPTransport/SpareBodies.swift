/// Memory of answers that were received, for the next ones: what was used last is still in the processor's caches.
/// Confined to the transport's actor.
final class SpareBodies {
    private var spares: [[UInt8]] = []

    /// A handful serves all that arrive at once; the rest is allocated.
    private static let most = 16
    /// Bytes. Larger answers are rare, and keep nothing.
    private static let largest = 131_072

    /// An empty one, with room or without.
    func take() -> [UInt8] { spares.popLast() ?? [] }

    /// - Parameter body: empty afterwards.
    func giveBack(_ body: inout [UInt8]) {
        var spare: [UInt8] = []
        swap(&spare, &body)
        guard spare.capacity <= Self.largest, spares.count < Self.most else { return }
        spare.removeAll(keepingCapacity: true)
        spares.append(spare)
    }
}
