internal import NIOCore

/// One request on its way to its answer. Confined to its connection's event loop.
final class Exchange {
    /// How far the exchange has come. It only moves forward.
    enum Phase {
        /// The request waits for its turn, or its latency passes.
        case pending
        /// The client has gone away before the answer began. The request is counted as aborted; a server that does not
        /// notice spends its turn all the same.
        case abandoned
        /// The answer has begun.
        case answering
        /// The answer has ended, well or badly, and the request is counted.
        case finished
    }

    let request: IncomingRequest
    let plan: FaultPlan?
    /// The decision of traffic control; `nil` for a request that is not counted: to the control plane,
    /// or for a picture.
    let admission: TrafficControl.Admission?
    var phase = Phase.pending
    /// True while the request is one of those that are served at a time (`TrafficProfile.Capacity`).
    var holdsTurn = false
    /// The timer that ends the latency.
    var timer: Scheduled<Void>?
    /// The bytes of a huge body that are not yet sent.
    var hugeBytesLeft = 0

    init(_ request: IncomingRequest, plan: FaultPlan?, admission: TrafficControl.Admission?) {
        (self.request, self.plan, self.admission) = (request, plan, admission)
    }

    /// The fault to be played instead of an answer. The request's own fault takes precedence over the profile's.
    var fault: Fault? { admission?.fault }
    /// The outcome that the statistics count when the fault was played to its end.
    var faultOutcome: String { fault?.outcome ?? "ok" }
    /// The delay that the request itself asks for.
    var delayMicroseconds: Int { (plan?.delayMilliseconds ?? 0) * 1000 }
}
