internal import NIOCore

/// One request on its way to its answer. Confined to its connection's event loop.
final class Exchange {
    let request: IncomingRequest
    let plan: FaultPlan?
    /// `nil` for the control plane, which is not counted.
    let admission: TrafficControl.Admission?
    /// One of those that are served at a time.
    var holdsPlace = false
    /// The client has gone away, but the server does not know.
    var isAbandoned = false
    var isFinished = false
    /// The answer has begun.
    var isAnswering = false
    var timer: Scheduled<Void>?

    init(_ request: IncomingRequest, plan: FaultPlan?, admission: TrafficControl.Admission?) {
        (self.request, self.plan, self.admission) = (request, plan, admission)
    }

    /// The fault to play; the request's own comes before the profile's.
    var fault: Fault? { admission?.fault }
    var delayMicroseconds: Int { (plan?.delayMilliseconds ?? 0) * 1000 }
}
