package import EventLoop
package import LocationSearch

/// One lane of a worker, with its loop and its providers.
package struct AssembledLane: Sendable {
    package let loop: EventLoop
    package let lane: WorkerLane
    /// The providers that have an API key.
    package let providers: [ProviderID]

    /// Creates the lane's providers, so that their statuses can be read before the first request names one.
    package func makeProvidersKnown() async { await lane.prepare(for: providers) }

    /// Runs `body` on the lane's loop, from a task of another executor.
    ///
    /// An `await` on a method of the lane is not enough. The compiler omits the switch to an actor whose method awaits
    /// only nonisolated work, and that work would run on the caller's executor.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable (WorkerLane) async -> Value) async -> Value {
        await Task(executorPreference: loop) { [lane] in await body(lane) }.value
    }
}
