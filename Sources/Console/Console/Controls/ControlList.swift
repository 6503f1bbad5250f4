package import EventContract

/// The orders that are in force in the fleet, as `locsearch controls` shows them.
package struct ControlList: Sendable, Hashable {
    package struct Order: Sendable, Hashable {
        /// What the order changes, such as `pause-provider`.
        package var control: String
        package var provider: String?
        /// The number or the level in the setting's place.
        package var value: String?
        /// The machine or the pod of the one worker that is meant; `nil`: all of the fleet.
        package var worker: String?
        package var by: String
        package var at: EventTime
        /// `nil` for an order that lasts until it is taken back.
        package var until: EventTime?

        package init(
            control: String, provider: String?, value: String?, worker: String?, by: String, at: EventTime,
            until: EventTime?
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

/// What has become of an order.
package struct ControlResult: Sendable, Hashable {
    /// The number of workers that have taken it up, and of those that were there.
    package var taken: Int
    package var workers: Int

    package init(taken: Int, workers: Int) {
        self.taken = taken
        self.workers = workers
    }
}
