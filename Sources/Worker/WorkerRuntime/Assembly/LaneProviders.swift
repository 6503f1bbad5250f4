package import ProviderCalls
package import QuotaSharing

/// A lane's access to the providers, from its searches to its member of the fleet. Given to a lane when it is made.
package struct LaneProviders {
    let interactor: SearchInteractor
    /// The queues of provider calls. `nil`: requests begin in the order in which they come.
    let calls: (any CallQueues)?
    /// The fleet member, which each rebalance updates with the lane's partitions of the first request topic.
    let fleet: (any FleetMember)?
    let searches: SearchWorker?

    /// - Parameter searches: makes the calls, and is a member of the fleet.
    /// - Parameter calls: the queues of calls; `nil`: those of `searches`.
    package init(_ searches: SearchWorker, selection: ProviderSelection, calls: (any CallQueues)? = nil) {
        interactor = SearchInteractor(selection: selection, worker: searches)
        self.calls = calls ?? searches
        fleet = searches
        self.searches = searches
    }

    /// Makes providers without calls: `interactor` has other searches.
    package init(interactor: SearchInteractor, calls: (any CallQueues)?, fleet: (any FleetMember)?) {
        (self.interactor, self.calls, self.fleet) = (interactor, calls, fleet)
        searches = nil
    }
}
