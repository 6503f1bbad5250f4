/// The orders that are in force, in the order in which the fleet topic has them.
public struct ControlBook: Sendable, Hashable {
    /// The most orders that are about single workers. They end with their worker, which nobody notes down: the oldest make
    /// room.
    private static let mostOfOneWorker = 64
    /// The most orders in all. People give few, but everybody who may write to the topic can give any number.
    private static let most = 256

    public private(set) var orders: [ControlOrder]

    public init(_ orders: [ControlOrder] = []) { self.orders = Array(orders.suffix(Self.most)) }

    /// Takes in an order that comes after all others.
    ///
    /// An order to the fleet replaces those about the same thing, also those to single workers. An order to one worker
    /// counts there before the fleet's, which counts again when the worker's is over.
    public mutating func apply(_ order: ControlOrder) {
        guard order.control != .drain else { return }

        orders.removeAll { other in
            other.changesTheSame(as: order) && (order.instance == nil || other.instance == order.instance)
        }
        // A worker is taken out of an order to the fleet by an entry of its own. Else there is nothing to keep.
        let isException =
            order.instance != nil && orders.contains { $0.instance == nil && $0.changesTheSame(as: order) }
        guard !order.isTakenBack || isException else { return }

        orders.append(order)
        makeRoom()
    }

    private mutating func makeRoom() {
        let ofOneWorker = orders.indices.filter { orders[$0].instance != nil }
        if ofOneWorker.count > Self.mostOfOneWorker, let oldest = ofOneWorker.first { orders.remove(at: oldest) }
        if orders.count > Self.most { orders.removeFirst() }
    }

    /// Forgets the orders whose time is over, and exceptions from them.
    /// - Parameter mayForget: asked about each of them.
    public mutating func removeOver(at time: Int64, if mayForget: (ControlOrder) -> Bool = { _ in true }) {
        let kept = orders.filter { !$0.isOver(at: time) || !mayForget($0) }
        guard kept.count < orders.count else { return }
        orders = kept
        let toFleet = orders.filter { $0.instance == nil }
        orders.removeAll { order in order.isTakenBack && !toFleet.contains { $0.changesTheSame(as: order) } }
    }

    /// Returns the orders that count for one worker at a moment: the last one about each thing.
    /// - Parameters:
    ///   - instance: the worker; `nil`: those of the whole fleet.
    ///   - time: by the worker's own clock, in milliseconds since 1970.
    public func inForce(for instance: String?, at time: Int64) -> [ControlOrder] {
        var found: [ControlOrder] = []
        for order in orders.reversed() where !order.isOver(at: time) {
            guard order.instance == nil || order.instance == instance,
                !found.contains(where: { $0.changesTheSame(as: order) })
            else { continue }
            found.append(order)
        }
        return found.filter { !$0.isTakenBack }.reversed()
    }

    /// The time at which the next of the orders is over that last at a moment; `nil` where none ends by itself.
    public func nextEnd(after time: Int64) -> Int64? { orders.compactMap(\.until).filter { $0 > time }.min() }
}
