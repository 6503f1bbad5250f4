package import EventContract

/// The operator's orders in force in the fleet, as `locsearch controls` shows them.
package struct ControlList: Sendable, Hashable {
    package struct Order: Sendable, Hashable {
        /// The kind of the order, such as `pause-provider`.
        package var control: String
        package var provider: String?
        /// The number or the level that replaces the setting.
        package var value: String?
        /// The machine or pod of the only worker that the order applies to; `nil`: the whole fleet.
        package var worker: String?
        package var by: String
        package var at: WallTime
        /// `nil` for an order that lasts until it is withdrawn.
        package var until: WallTime?

        package init(
            control: String, provider: String?, value: String?, worker: String?, by: String, at: WallTime,
            until: WallTime?
        ) {
            self.control = control
            self.provider = provider
            self.value = value
            self.worker = worker
            self.by = by
            self.at = at
            self.until = until
        }
    }

    package var orders: [Order]
    /// The names of the providers that can be paused.
    package var providers: [String]

    package init(orders: [Order], providers: [String]) {
        self.orders = orders
        self.providers = providers
    }
}

/// The effect of an order.
package struct ControlResult: Sendable, Hashable {
    /// The number of workers that have applied the order, and of all workers.
    package var taken: Int
    package var workers: Int

    package init(taken: Int, workers: Int) {
        self.taken = taken
        self.workers = workers
    }
}
