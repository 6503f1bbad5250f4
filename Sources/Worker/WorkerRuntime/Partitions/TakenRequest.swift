/// A request that was taken from a partition, as the partition knows it.
protocol TakenRequest: AnyObject {
    /// The request's entry in the partition's `OffsetTracker`.
    var slot: OffsetTracker.Slot { get }
    /// Its record's offset.
    var offset: Int64 { get }
    /// The request's fate, as far as it is decided.
    var fate: RequestFate { get }
    /// `true` when another worker that ran the request anew would pay for it, or publish it, a second time.
    var hasCost: Bool { get }
    /// `true` for a request that began before others that were read earlier.
    var hasOvertaken: Bool { get }
    /// Ends the work on the request. Does nothing once its outcome is being delivered.
    func end(as fate: RequestFate)
}

/// The fate of a request.
enum RequestFate {
    /// The request's outcome will be published.
    case wanted
    /// A newer request of its session came: its outcome says `superseded`.
    case superseded
    /// The partition went to another worker, or the worker gave up waiting: there is no outcome, and the offset stays
    /// uncommitted.
    case abandoned
}
