import Basics
import Resilience

/// What people do to the fleet by the program's commands.
extension FleetWorld {
    /// `locsearch budget set` and `locsearch budget reset`: an order about the day by the clock of whoever gives it.
    /// - Parameter callsOfDay: `nil` has the day's calls count from zero again.
    func orderBudget(callsOfDay: Int?) {
        let day = Self.dayOfBudget(at: wallNow)
        ordersGiven += 1
        let order = BudgetMessage.Order(
            provider: SimulatedWorker.scope.provider, fleet: SimulatedWorker.scope.fleet,
            day: Self.label(ofDay: day.number), limit: callsOfDay, isReset: callsOfDay == nil,
            time: "order \(ordersGiven)")
        fleetTopic.append(.budget(BudgetMessage(sender: "locsearch budget \(ordersGiven)", number: 1, order: order)))
    }
}
