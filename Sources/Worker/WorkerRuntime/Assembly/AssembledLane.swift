package import EventLoop
package import LocationSearch
package import ProviderCalls

/// One lane of a worker, with its loop, searches and providers.
package struct AssembledLane: Sendable {
    package let loop: EventLoop
    package let lane: WorkerLane
    package let searches: SearchWorker
    /// The providers that have an API key.
    package let providers: [ProviderID]

    /// Creates the lane's providers, so that their statuses can be read before the first request names one.
    package func makeProvidersKnown() async { await searches.prepare(for: providers) }

    /// Runs `body` on the lane's loop, from a task of another executor.
    ///
    /// An `await` on a method of the lane is not enough. The compiler omits the switch to an actor whose method awaits
    /// only nonisolated work, and that work would run on the caller's executor.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (WorkerLane) async -> Value) async -> Value {
        await Task(executorPreference: loop) { [lane] in await body(lane) }.value
    }
}
