import Basics
import LocationSearch
import Resilience
import TestSupport

@testable import ProviderCalls

/// A provider as a queueing model: a number of servers, a service time, and a queue.
///
/// Like most servers, it also works on requests whose callers have given up.
final class ProviderModel {
    enum Answer { case served, refused, timedOut }

    let time: VirtualTime
    /// The number of requests served at a time.
    var servers: Int
    /// The service time in seconds.
    var service: () -> Double
    /// The longest queue; further requests are rejected at once.
    var room = Int.max
    private var busy = 0
    private var line: [() -> Void] = []
    private var first = 0

    init(_ time: VirtualTime, servers: Int, service: @escaping () -> Double) {
        self.time = time
        self.servers = servers
        self.service = service
    }

    /// Sends a request, and waits until the answer or the deadline.
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

/// The results of a period of traffic.
struct Tally: CustomStringConvertible {
    var served = 0
    var timedOut = 0
    var refusedHere = 0
    var refusedThere = 0
    /// The seconds from arrival to outcome of all requests.
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
    /// The deadline of a request in seconds.
    var budget: () -> Double = { 5 }
    /// The seconds after which a caller cancels its call, though its request has time left.
    var patience: () -> Double = { .infinity }
    private var tally = Tally()
    private var since: Duration = .zero
    /// The smallest and largest limit since the last `take`.
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
        var grant = try await calls.queue.grant(for: nil, before: deadline)
        _ = grant.begin()
        return grant
    }

    var limit: ConcurrencyLimit.Statistics { calls.queue.concurrencyStatistics }

    /// Starts a backlog: the given number of clients sends one request after another.
    func startBacklog(of clients: Int, on owner: isolated Owner) {
        for _ in 0..<clients {
            Task.immediate(executorPreference: time) {
                _ = owner
                while true {
                    let before = time.now
                    await request()
                    // The outcome is published before the next request is taken. A client that is rejected at once does not spin.
                    await time.sleep(for: time.now == before ? .milliseconds(50) : .microseconds(100))
                }
            }
        }
    }

    /// Starts random arrivals at the given rate per second.
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

    /// Returns an exponentially distributed number, without a logarithm.
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

    /// Runs traffic for `first`, then returns the results of `measured`.
    func tally(of measured: Duration, after first: Duration) -> Tally {
        time.run(for: first)
        _ = take()
        time.run(for: measured)
        return take().tally
    }

    /// Returns the results since the last call.
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
