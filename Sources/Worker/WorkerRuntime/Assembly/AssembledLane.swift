public import EventLoop
public import LocationSearch
public import ProviderCalls

/// One lane of a worker with what belongs to it.
public struct AssembledLane: Sendable {
    public let loop: EventLoop
    public let lane: WorkerLane
    public let searches: SearchWorker
    /// The providers that have an API key.
    public let providers: [ProviderID]

    /// Makes the lane's providers known, so that their statuses can be asked for before the first request names one.
    public func makeProvidersKnown() async { await searches.prepare(for: providers) }

    /// Has the lane do something on its loop, from a task of another one.
    ///
    /// A call alone would not do: the compiler leaves out the switch to an actor whose method only awaits what is not
    /// isolated, and that then runs where the caller does.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (WorkerLane) async -> Value) async -> Value {
        await Task(executorPreference: loop) { [lane] in await body(lane) }.value
    }
}
