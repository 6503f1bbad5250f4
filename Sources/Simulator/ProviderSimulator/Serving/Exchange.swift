/// One request until the end of its answer. Confined to its connection's event loop.
final class Exchange {
    /// The progress of the exchange. It only moves forward.
    enum Phase {
        /// The request waits for its permit or for the end of its latency.
        case pending
        /// The client disconnected before the answer began. The request is counted as aborted. A server that does not
        /// notice still uses the permit.
        case abandoned
        /// The answer has begun.
        case answering
        /// The answer has ended, successfully or not, and the request is counted.
        case finished
    }

    let request: IncomingRequest
    /// The decision of traffic control; `nil` for a request that is not counted, because it is for the control plane or
    /// for a picture.
    let admission: TrafficControl.Admission?
    /// The delay that the request itself asks for.
    let delayMicroseconds: Int
    var phase = Phase.pending
    /// True while the request holds one of the permits for concurrent requests (`TrafficProfile.capacity`).
    var holdsPermit = false
    /// The number of unsent bytes of a huge body.
    var hugeBytesLeft = 0

    init(_ request: IncomingRequest, plan: FaultPlan? = nil, admission: TrafficControl.Admission? = nil) {
        (self.request, self.admission) = (request, admission)
        delayMicroseconds = (plan?.delayMilliseconds ?? 0) * 1000
    }

    /// The fault to apply instead of sending an answer. The request's own fault takes precedence over the profile's.
    var fault: Fault? { admission?.fault }
    /// The outcome for the statistics once the fault has been applied.
    var faultOutcome: String { fault?.outcome ?? "ok" }
}
