/// A request that was taken from a partition, as the partition uses it.
protocol TakenRequest: AnyObject {
    /// The request's entry in the partition's `OffsetTracker`.
    var slot: OffsetTracker.Slot { get }
    /// The offset of its record.
    var offset: Int64 { get }
    /// The decision about the request so far.
    var fate: RequestFate { get }
    /// `true` if another worker that ran the request again would be billed for it, or publish it, a second time.
    var wasBilled: Bool { get }
    /// `true` for a request that began before earlier ones.
    var hasOvertaken: Bool { get }
    /// Ends the work on the request. Does nothing once its outcome is being delivered.
    func end(as fate: RequestFate)
}

/// The decision about a request's outcome.
enum RequestFate {
    /// The request's outcome will be published.
    case wanted
    /// A newer request of its session arrived: its outcome is the error `superseded`.
    case superseded
    /// The partition was revoked, or the worker stopped waiting: there is no outcome, and the offset stays uncommitted.
    case abandoned
}
