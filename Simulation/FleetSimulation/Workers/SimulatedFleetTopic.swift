import Basics
import EventLoop
import Resilience
import SimulatedLoop
import WorkerRuntime

/// The fleet's topic: one partition whose order all members agree on. Messages are lost, late and doubled on their way there.
final class SimulatedFleetTopic {
    private let simulation: Simulation
    private var random: SeededGenerator
    private var words: [FleetWord] = []
    /// All that was said, with the time from which on it stands in the topic.
    private(set) var log: [(time: Instant, word: FleetWord)] = []
    private var readers: [() -> Void] = []
    /// Parts of all messages.
    private let lost, doubled: Double

    init(_ simulation: Simulation, random: SeededGenerator) {
        var random = random
        self.simulation = simulation
        (lost, doubled) = random.chance(0.5) ? (0, 0) : (0.03, 0.05)
        self.random = random
    }

    /// One past the last offset.
    var end: Int64 { Int64(words.count) }

    /// Calls `body` whenever there is something new, for as long as the simulation lasts.
    func watch(_ body: @escaping () -> Void) { readers.append(body) }

    func append(_ word: FleetWord) {
        guard !random.chance(lost) else { return }
        for _ in 0..<(random.chance(doubled) ? 2 : 1) {
            simulation.schedule(after: .seconds(Double.random(in: 0.002...0.05, using: &random))) { [self] in
                words.append(word)
                log.append((simulation.now, word))
                tellReaders()
            }
        }
    }

    private func tellReaders() {
        for reader in readers {
            simulation.schedule(after: .seconds(Double.random(in: 0.001...0.03, using: &random)), reader)
        }
    }

    func records(from offset: Int64, isOldBefore old: Int64) -> [FleetRecord] {
        (offset..<max(offset, end)).map { FleetRecord(offset: $0, isOld: $0 < old, word: words[Int($0)]) }
    }
}

/// A process's way to the fleet's topic, as `FleetLink` is one.
final class SimulatedFleetLink: FleetSpeaking, @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    private let topic: SimulatedFleetTopic
    private var waiter: CheckedContinuation<Void, Never>?
    private var hasNews = false
    private var isOver = false

    init(_ topic: SimulatedFleetTopic) {
        self.topic = topic
        topic.watch { [weak self] in self?.wake() }
    }

    func say(_ words: [FleetWord]) {
        for word in words { topic.append(word) }
    }

    func end() {
        isOver = true
        wake()
    }

    private func wake() {
        hasNews = true
        waiter?.resume()
        waiter = nil
    }

    /// Has lanes hear what the fleet says, until `end`.
    func run(_ lanes: [SimulatedLane]) async {
        let end = topic.end
        var next: Int64 = 0
        for lane in lanes {
            await lane.onLoop { await $0.openedFleetTopic(FleetTopicExtent(first: 0, end: end, oldest: 0)) }
        }

        while !isOver {
            let records = topic.records(from: next, isOldBefore: end)
            next = max(next, records.last.map { $0.offset + 1 } ?? next)
            for lane in lanes where !records.isEmpty { await lane.onLoop { await $0.hear(records) } }

            if !hasNews, !isOver { await withCheckedContinuation { waiter = $0 } }
            hasNews = false
        }
    }
}
