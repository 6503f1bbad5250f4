import Basics
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import EventLoop

/// An actor on a loop, which records what the loop reports.
private actor Resident: ReadinessHandler {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    private(set) var seen: [String] = []
    private(set) var count = 0

    init(_ loop: EventLoop) { self.loop = loop }

    nonisolated func ready(_ fileDescriptor: Int32, readiness: Readiness) {
        assumeIsolated { resident in
            var byte: UInt8 = 0
            guard unsafe read(fileDescriptor, &byte, 1) == 1 else { return }
            resident.seen.append("\(Character(UnicodeScalar(byte)))")
        }
    }

    func watch(_ fileDescriptor: Int32) { loop.watch(fileDescriptor, for: .read, handler: self) }
    func unwatch(_ fileDescriptor: Int32) { loop.unwatch(fileDescriptor) }
    func isOnLoop() -> Bool { loop.isCurrent }

    func threadName() throws -> String {
        try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    }

    func add() { count += 1 }

    /// A nonisolated async function runs on its caller's actor, and so on the loop.
    func nonisolatedCalleeIsOnLoop() async -> Bool { await nonisolatedIsOnLoop() }
    private nonisolated func nonisolatedIsOnLoop() async -> Bool { loop.isCurrent }

    private func note(_ text: String, at due: Instant) -> TimerID {
        loop.schedule(at: due) { self.assumeIsolated { $0.seen.append(text) } }
    }

    /// Sets all three timers in one job, so that none fires in between, however slow the machine is.
    func noteTwoAndCancelOne(from start: Instant) {
        _ = note("second", at: start + .milliseconds(30))
        _ = note("first", at: start + .milliseconds(10))
        loop.cancel(note("never", at: start + .milliseconds(20)))
    }

    /// Suspends for `time` and returns for how long the loop was asleep meanwhile.
    func asleep(during time: Duration) async -> Duration {
        let before = loop.asleep
        await loop.pause(time)
        return loop.asleep - before
    }

    /// Computes for 20 ms and returns for how long the loop was asleep meanwhile.
    func asleepWhileBusy() async -> Duration {
        let before = loop.asleep
        let end = Instant.now + .milliseconds(20)
        while Instant.now < end { count &+= 1 }
        return loop.asleep - before
    }

    func longestPass() -> Duration { loop.longestPassWithoutPolling }

    func suspended(_ body: @Sendable (CheckedContinuation<Bool, Never>) -> Void) async -> Bool {
        let answer = await withCheckedContinuation { body($0) }
        return answer && loop.isCurrent
    }
}

struct EventLoopTests {
    @Test func `An actor on a loop runs on the loop's thread`() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let resident = Resident(loop)
        #expect(await resident.isOnLoop())
        #expect(try await resident.threadName() == "\(LoopThread.name)\n")
        #expect(await resident.nonisolatedCalleeIsOnLoop())
        #expect(!loop.isCurrent)
    }

    @Test func `The longest pass is at least as long as the longest job`() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let resident = Resident(loop)

        // A rest before and after the job, so that both ends of the pass are measured.
        _ = await resident.asleep(during: .milliseconds(1))
        _ = await resident.asleepWhileBusy()
        _ = await resident.asleep(during: .milliseconds(1))

        #expect(await resident.longestPass() >= .milliseconds(20))
        #expect(await resident.longestPass() < .seconds(20))
    }

    @Test func `A task continues on the loop when it is resumed on another thread`() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let resident = Resident(loop)
        let onLoop = await resident.suspended { continuation in Task.detached { continuation.resume(returning: true) } }
        #expect(onLoop)
    }

    @Test func `The loop runs every job that many threads enqueue`() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let resident = Resident(loop)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<16 { group.addTask { for _ in 0..<500 { await resident.add() } } }
        }
        #expect(await resident.count == 8000)
    }

    @Test func `The loop reports readiness until the descriptor is unwatched`() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let resident = Resident(loop)
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        await resident.watch(ends[0])
        _ = unsafe write(ends[1], "ab", 2)
        try await eventually("both bytes read") { await resident.seen == ["a", "b"] }
        await resident.unwatch(ends[0])
        _ = unsafe write(ends[1], "c", 1)
        // Loop iterations after the write, in which it would have been reported.
        for _ in 0..<3 { _ = await resident.isOnLoop() }
        #expect(await resident.seen == ["a", "b"])
    }

    @Test func `Timers fire in order unless they are cancelled`() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let resident = Resident(loop)
        let start = Instant.now
        await resident.noteTwoAndCancelOne(from: start)
        try await eventually("both timers") { await resident.seen.count == 2 }
        #expect(await resident.seen == ["first", "second"])
        #expect(Instant.now - start >= .milliseconds(30))
    }

    @Test func `The loop measures its idle time`() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let resident = Resident(loop)
        let start = Instant.now
        let asleep = await resident.asleep(during: .milliseconds(60))
        #expect(asleep > .zero)
        #expect(asleep <= start.duration(to: .now))
        #expect(await resident.asleepWhileBusy() == .zero)
    }

    @Test func `The loop ends its thread when it is stopped`() async throws {
        let loop = try EventLoop()
        let resident = Resident(loop)
        await resident.add()
        loop.stop()
        try await eventually("the thread to end") { loop.isStopped }
    }

    // MARK: - Cancelled timers

    /// A request that expires in a day is soon answered, and its timer is then cancelled.
    @Test func `Cancelled timers of tomorrow are not kept`() {
        var timers = LoopTimers()
        let tomorrow = Instant.now + .seconds(86_400)
        for _ in 0..<100_000 { timers.cancel(timers.add(at: tomorrow, rank: 0) {}) }
        #expect(timers.heapCount < 200)
    }

    @Test func `Timers run in order when others are cancelled`() {
        var timers = LoopTimers()
        let start = Instant.now
        var run: [Int] = []
        let all = (0..<1_000).map { number in
            timers.add(at: start + .milliseconds(number * 7 % 1_000), rank: 0) { run.append(number * 7 % 1_000) }
        }
        for (number, timer) in all.enumerated() where number % 10 > 0 { timers.cancel(timer) }
        #expect(timers.heapCount < 300)

        while let action = timers.popDue(at: start + .seconds(2)) { action() }
        #expect(run.count == 100 && run == run.sorted())
        #expect(timers.nextDue == nil && timers.heapCount == 0)
    }

    @Test func `A timer that is over cannot cancel the one that uses its entry`() {
        var timers = LoopTimers()
        let start = Instant.now
        var run: [Int] = []
        let (cancelled, finished) = (
            timers.add(at: start, rank: 0) {}, timers.add(at: start, rank: 0) { run.append(1) }
        )
        timers.cancel(cancelled)
        timers.popDue(at: start)?()
        for number in 2...3 { _ = timers.add(at: start, rank: 0) { run.append(number) } }
        timers.cancel(cancelled)
        timers.cancel(finished)
        while let action = timers.popDue(at: start) { action() }
        #expect(run == [1, 2, 3])
    }
}
