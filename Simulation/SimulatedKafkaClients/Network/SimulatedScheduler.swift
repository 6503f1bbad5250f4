/// Virtual time for the clients.
package protocol SimulatedScheduler: AnyObject {
    /// Nanoseconds of virtual time.
    var now: Int64 { get }
    /// Runs an action later. The scheduler chooses the order of actions that are due at the same time.
    /// - Parameter time: Not before `now`.
    func schedule(at time: Int64, _ action: @escaping () -> Void)
}

extension SimulatedScheduler {
    package func schedule(after delay: Int64, _ action: @escaping () -> Void) { schedule(at: now + delay, action) }
}
