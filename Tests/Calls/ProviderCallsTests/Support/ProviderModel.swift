import Basics
import LocationSearch
import Resilience
import TestSupport

@testable import ProviderCalls

/// A provider as queueing theory sees it: so many requests served at a time, each for a while, the rest in a line. Works
/// on requests whose callers have gone, as most servers do.
final class ProviderModel {
    enum Answer { case served, refused, timedOut }

    let time: VirtualTime
    /// Requests served at a time.
    var servers: Int
    /// Seconds that one takes.
    var service: () -> Double
    /// Longest line; more is refused at once.
    var room = Int.max
    private var busy = 0
    private var line: [() -> Void] = []
    private var first = 0

    init(_ time: VirtualTime, servers: Int, service: @escaping () -> Double) {
        self.time = time
        self.servers = servers
        self.service = service
    }

    /// Asks, and waits until the answer or the deadline.
    func ask(before deadline: Deadline) async -> Answer {
        if line.count - first >= room { return .refused }
        return await withCheckedContinuation { continuation in
            let call = Box<CheckedContinuation<Answer, Never>?>(continuation)
            func end(_ answer: Answer) {
                call.value?.resume(returning: answer)
                call.value = nil
            }
            time.schedule(at: deadline.instant) { end(.timedOut) }
            enter { end(.served) }
        }
    }

    private func enter(_ done: @escaping () -> Void) {
        guard busy < servers else { return line.append(done) }
        busy += 1
        time.schedule(at: time.now + .seconds(service())) { [self] in
            done()
            busy -= 1
            while busy < servers, first < line.count {
                let next = line[first]
                first += 1
                if first > 4096 {
                    line.removeFirst(first)
                    first = 0
                }
                enter(next)
            }
        }
    }
}

/// What a stretch of traffic came to.
struct Tally: CustomStringConvertible {
    var served = 0
    var timedOut = 0
    var refusedHere = 0
    var refusedThere = 0
    /// Of all requests, from arrival to outcome; seconds.
    var times: [Double] = []
    var seconds = 0.0
    var goodput: Double { Double(served) / seconds }
    func percentile(_ share: Double) -> Double {
        times.isEmpty ? 0 : times.sorted()[min(times.count - 1, Int(share * Double(times.count)))]
    }
    var description: String {
        "goodput \(goodput)/s p50 \(percentile(0.5)) p99 \(percentile(0.99)) served \(served) timed out \(timedOut) refused here \(refusedHere) there \(refusedThere)"
    }
}

/// Clients that ask one provider through one limit.
final class AdaptiveTraffic {
    let time: VirtualTime
    let calls: QueuedCalls
    let provider: ProviderModel
    var random: SplitMix64
    /// Seconds a request has.
    var budget: () -> Double = { 5 }
    /// Seconds after which a caller gives its call up, though its request has time left.
    var patience: () -> Double = { .infinity }
    private var tally = Tally()
    private var since: Duration = .zero
    /// Smallest and largest limit seen since the last `take`.
    private(set) var limits = (least: Int.max, most: 0)

    init(
        _ time: VirtualTime, maximum: Int = 256, isAdaptive: Bool = true, servers: Int, seed: UInt64 = 1,
        service: @escaping () -> Double
    ) {
        self.time = time
        var configuration = ConcurrencyLimit.Configuration(maximum: maximum)
        configuration.isAdaptive = isAdaptive
        calls = QueuedCalls(concurrency: configuration, time: time)
        provider = ProviderModel(time, servers: servers, service: service)
        random = SplitMix64(state: seed)
    }

    func request() async {
        let arrival = time.now
        let deadline = Deadline(arrival + .seconds(budget()))
        do throws(CallFailure) {
            let grant = try await grant(before: deadline)
            let given = Deadline(grant.permit.start + .seconds(saturating: patience()))
            let error: SearchError?
            switch await provider.ask(before: min(deadline, given)) {
            case .served:
                error = nil
                tally.served += 1
            case .refused:
                error = SearchError(.rateLimited, "too many calls", httpStatus: 429)
                tally.refusedThere += 1
            case .timedOut:
                error = .timedOut
                tally.timedOut += 1
            }
            calls.queue.finish(grant, failedWith: error, health: .ignored, at: time.now)
        } catch {
            tally.refusedHere += 1
        }
        tally.times.append(arrival.duration(to: time.now) / .seconds(1))
        let now = limit.limit
        limits = (min(limits.least, now), max(limits.most, now))
    }

    /// Waits for the grant of a call, and begins it.
    func grant(before deadline: Deadline) async throws(CallFailure) -> Grant {
        var grant = try await calls.queue.grant(for: nil, within: CallTimes(deadline: deadline, lastCall: nil))
        _ = grant.begin()
        return grant
    }

    var limit: ConcurrencyLimit.Statistics { calls.queue.concurrencyStatistics }

    /// As many at a time as the worker's concurrency: a backlog.
    func startBacklog(of clients: Int, on owner: isolated Owner) {
        for _ in 0..<clients {
            Task.immediate(executorPreference: time) {
                _ = owner
                while true {
                    let before = time.now
                    await request()
                    // The outcome is published before the next is taken; who is refused at once does not spin.
                    await time.sleep(for: time.now == before ? .milliseconds(50) : .microseconds(100))
                }
            }
        }
    }

    /// Requests arriving at random, so many a second.
    func startArrivals(perSecond rate: Double, on owner: isolated Owner) {
        Task.immediate(executorPreference: time) {
            _ = owner
            while true {
                await time.sleep(for: .seconds(exponential(1 / rate)))
                Task.immediate(executorPreference: time) {
                    _ = owner
                    await request()
                }
            }
        }
    }

    /// Without a logarithm: the mean of a few uniform ones has the wrong tail, so halve as long as a coin says so.
    func exponential(_ mean: Double) -> Double {
        // Von Neumann's comparison method (1951).
        var whole = 0.0
        while true {
            let first = Double.random(in: 0..<1, using: &random)
            var (last, count) = (first, 1)
            while true {
                let next = Double.random(in: 0..<1, using: &random)
                if next > last { break }
                last = next
                count += 1
            }
            if count % 2 == 1 { return (whole + first) * mean }
            whole += 1
        }
    }

    /// What comes of a stretch of time, once the traffic has gone on for another.
    func tally(of measured: Duration, after first: Duration) -> Tally {
        time.run(for: first)
        _ = take()
        time.run(for: measured)
        return take().tally
    }

    /// What came of the time since the last call.
    func take() -> (tally: Tally, limits: (least: Int, most: Int)) {
        defer {
            tally = Tally()
            since = time.elapsed
            limits = (Int.max, 0)
        }
        tally.seconds = (time.elapsed - since) / .seconds(1)
        return (tally, limits)
    }
}
