import EventLoop
import Kafka
import QuotaSharing
import TestSupport
import Testing

@testable import WorkerRuntime

/// A concurrency that operators change while requests are in flight.
struct ControlledIntakeTests {
    @Test func `Fewer requests are taken until the order ends`() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        await Task(executorPreference: loop) {
            let gate = IntakeGate(IntakeGate.Limits(inFlight: 8, open: 520, unconfirmedBytes: 1000), loop: loop)
            for _ in 0..<6 { gate.requestTaken() }
            #expect(await gate.waitForRoom(while: { false }) == 2)

            gate.limit(inFlight: 4)
            gate.leaveFlight()
            gate.leaveFlight()
            gate.leaveFlight()
            #expect(await gate.waitForRoom(while: { false }) == 1)
            gate.limit(inFlight: 0)
            gate.leaveFlight()
            gate.leaveFlight()
            gate.leaveFlight()
            #expect(await gate.waitForRoom(while: { false }) == 1, "one is always taken")

            gate.limit(inFlight: nil)
            #expect(await gate.waitForRoom(while: { false }) == 8)
        }.value
    }

    /// A request that ends resumes one of the tasks that wait for room, which resumes the next one, even if it takes none.
    @Test(.timeLimit(.minutes(1))) func `Tasks get room in the order in which they came`() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        await Task(executorPreference: loop) {
            // `nonisolated(unsafe)`: all tasks run on the loop.
            nonisolated(unsafe) let gate = IntakeGate(
                IntakeGate.Limits(inFlight: 1, open: 520, unconfirmedBytes: 1000), loop: loop)
            nonisolated(unsafe) var order: [Int] = []
            unsafe gate.requestTaken()
            let waiting = (0..<4).map { number in
                Task(executorPreference: loop) {
                    let room = await unsafe gate.waitForRoom(while: { false })
                    #expect(room == 1)
                    unsafe order.append(number)
                    guard number > 0 else { return }
                    unsafe gate.requestTaken()
                    await loop.pause(.milliseconds(1))
                    unsafe gate.leaveFlight()
                    unsafe gate.requestFinished()
                }
            }
            // A job of the loop begins after those that were there before it, so that all tasks wait by now.
            await Task(executorPreference: loop) {}.value
            for _ in 0..<3 { unsafe gate.wake() }
            await Task(executorPreference: loop) {}.value

            unsafe gate.leaveFlight()
            unsafe gate.requestFinished()
            for task in waiting { await task.value }
            let (inFlight, inOrder) = unsafe (gate.inFlight, order)
            #expect(inFlight == 0)
            #expect(inOrder == [0, 1, 2, 3])
        }.value
    }

    @Test(arguments: [true, false])
    func `A lane without intake ends with its client`(isPaused: Bool) async throws {
        let fatal = KafkaError(.fatal, "consumer: made to fail")
        await #expect(throws: fatal) {
            try await LaneFixture.run { fixture in
                if isPaused {
                    var paused = LaneControls()
                    paused.isIntakeOpen = false
                    await fixture.lane.apply(paused)
                } else {
                    await fixture.sink.refuse { _, _ in KafkaError(.other, code: 3, "unknown topic") }
                    await fixture.source.append([LaneFixture.request("refused")])
                    try await eventually("no request begins") { await fixture.lane.status.delivery.problem != nil }
                }
                await fixture.source.append([LaneFixture.request("waits")])
                try await eventually("the lane has read, and waits") { await fixture.source.unreadCount == 0 }

                await fixture.source.fail(with: fatal)
                try await eventually("the lane leaves the group") { await fixture.source.isClosed }
                #expect(await fixture.provider.asked == (isPaused ? [] : ["refused"]))
            }
        }
    }
}
