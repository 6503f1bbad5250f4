internal import EventLoop
internal import QuotaSharing
internal import Synchronization

/// The lanes of one process, which start together, take part in the fleet, and end together.
package struct LaneGroup: Sendable {
    /// The longest time for publishing the lanes' last messages to the fleet topic.
    private static let finalPublishTimeout = Duration.seconds(1)

    package let lanes: [WorkerLane]
    /// The process's link to the fleet topic; `nil` if its members have nothing to publish.
    package let link: FleetLink?
    /// Applies control orders to the lanes; `nil` if controls are disabled.
    package let controls: FleetControls?

    /// - Parameter lanes: at least one.
    package init(_ lanes: [WorkerLane], link: FleetLink?, controls: FleetControls? = nil) {
        (self.lanes, self.link, self.controls) = (lanes, link, controls)
    }

    /// Joins the group and works until `drain`, or until a lane fails fatally, which ends all lanes. The loops keep
    /// running.
    /// - Parameters:
    ///   - joining: called before the first lane joins.
    ///   - ended: called on a lane's loop, with its number, for each lane that has ended without an error.
    /// - Throws: the first failure, after every lane has ended.
    package func run(
        joining: @Sendable () -> Void = {},
        ended: @escaping @Sendable (Int) async -> Void = { _ in }
    ) async throws {
        if await !prepare() { await drain() }
        await controls?.attach(lanes, link: link)
        let fleetReading = startReadingFleetTopic()
        joining()

        let result = await runLanes(ended)
        await controls?.end()
        link?.end()
        await fleetReading?.end(within: Self.finalPublishTimeout)
        try result.get()
    }

    /// Begins the shutdown: the lanes take no new requests, and those in flight finish.
    package func drain() async {
        for lane in lanes { await lane.drain() }
    }

    // MARK: - Lanes

    /// Performs the steps that can fail before any lane joins the group.
    /// - Returns: `false` if a lane failed; the other lanes then end without having joined.
    private func prepare() async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for lane in lanes {
                group.addTask(executorPreference: lane.loop) { await lane.prepare() }
            }
            return await group.allSatisfy { $0 }
        }
    }

    private func runLanes(_ ended: @escaping @Sendable (Int) async -> Void) async -> Result<Void, any Error> {
        do {
            return .success(try await joinLanes(ended))
        } catch {
            return .failure(error)
        }
    }

    private func joinLanes(_ ended: @escaping @Sendable (Int) async -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, lane) in lanes.enumerated() {
                group.addTask(executorPreference: lane.loop) {
                    do {
                        try await lane.run()
                    } catch {
                        await drain()
                        throw error
                    }
                    await ended(number)
                }
            }
            try await group.waitForAll()
        }
    }

    // MARK: - The fleet

    /// Passes the fleet's messages to the lanes and publishes the lanes' messages, until the link ends.
    /// - Returns: `nil` if there is no link.
    private func startReadingFleetTopic() -> FleetReading? {
        guard let link, let loop = lanes.first?.loop else { return nil }
        let hasEnded = WakeUp()
        if let controls { Task(executorPreference: loop) { await controls.run() } }
        Task(executorPreference: loop) {
            await link.run { news in
                var needsOlder = await controls?.receive(news) ?? false
                for lane in lanes where await lane.onLoop({ await $0.receive(news) }) { needsOlder = true }
                return needsOlder
            }
            hasEnded.wake()
        }
        return FleetReading(loop: loop, hasEnded: hasEnded)
    }

    /// The running link. A link that does not end in time is abandoned.
    private struct FleetReading: Sendable {
        let loop: EventLoop
        let hasEnded: WakeUp

        func end(within bound: Duration) async {
            await Task(executorPreference: loop) { await hasEnded.rest(for: bound, on: loop) }.value
        }
    }
}
