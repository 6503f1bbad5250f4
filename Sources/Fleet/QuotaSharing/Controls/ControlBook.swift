/// The orders in force, in the order of the fleet topic.
public struct ControlBook: Sendable, Hashable {
    /// The most orders for single workers. They end with their worker, which is not recorded, so the oldest are
    /// removed.
    private static let mostOfOneWorker = 1024
    /// The most orders in total, so that a snapshot fits into a record. Any client of the topic can send any number.
    private static let most = mostOfOneWorker + 192

    public private(set) var orders: [ControlOrder]

    public init() { orders = [] }

    public init(_ orders: [ControlOrder]) { self.orders = Array(orders.suffix(Self.most)) }

    /// Applies an order that follows all others.
    ///
    /// An order to the fleet replaces all orders for the same setting, including those to single workers. An order to
    /// one worker overrides the fleet's order for that worker, until the worker's order ends.
    public mutating func apply(_ order: ControlOrder) {
        guard !order.appliesOnce else { return }

        orders.removeAll { other in
            other.changesTheSame(as: order) && (order.instance == nil || other.instance == order.instance)
        }
        // An entry exempts a worker from an order to the fleet. Without such an order, there is nothing to keep.
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

    /// Removes orders that ended before a time, and the exceptions from them.
    public mutating func removeOver(at time: Int64) {
        let kept = orders.filter { !$0.isOver(at: time) }
        guard kept.count < orders.count else { return }
        orders = kept
        let toFleet = orders.filter { $0.instance == nil }
        orders.removeAll { order in order.isTakenBack && !toFleet.contains { $0.changesTheSame(as: order) } }
    }

    /// Returns the orders that apply to one worker at a time: the last one for each setting.
    /// - Parameters:
    ///   - instance: the worker; `nil`: the orders for the whole fleet.
    ///   - time: by the worker's clock, in milliseconds since 1970.
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

    /// Returns the next time at which an order ends; `nil` if no order has a later end.
    public func nextEnd(after time: Int64) -> Int64? { orders.compactMap(\.until).filter { $0 > time }.min() }
}
