import Basics
import EventContract
import Kafka
import Logging
import Synchronization
import WorkerRuntime

/// Counts the requests that wait although half of the time is over for which their topic keeps them. Safe to use from any
/// task.
///
/// Kafka deletes what is older than the topic's `retention.ms`, whether or not anybody has read it. The brokers are asked,
/// because a worker that takes nothing knows no timestamp of what waits.
final class RetentionWatch: Sendable {
    /// The state of the backlog at a moment.
    struct State: Sendable, Equatable {
        /// How long each topic keeps records. One without a limit is missing, and so is one of which this user may not ask.
        var retentions: [String: Duration] = [:]
        /// The requests that wait and are older than half of that; `nil` while that is not known.
        var endangered: Int64?

        /// The shortest time for which a topic keeps records.
        var retention: Duration? { retentions.values.min() }
    }

    /// How often the brokers are asked for what waits, and how often for the topics' settings.
    private static let (period, settingsPeriod) = (Duration.seconds(60), Duration.seconds(600))
    private static let timeout = Duration.seconds(5)

    private let topics: [String]
    private let configuration: ConsumerConfiguration
    private let log: Logger
    private let current = Mutex(State())

    /// - Parameters:
    ///   - topics: those of requests.
    ///   - configuration: how to connect; no group is joined.
    init(topics: [String], configuration: ConsumerConfiguration, log: Logger) {
        self.topics = topics
        self.configuration = configuration
        self.log = log
    }

    var state: State { current.withLock { $0 } }

    /// Looks again and again until the task is cancelled.
    /// - Parameter positions: says how the worker's partitions stand.
    func run(_ positions: @Sendable () async -> [LaneStatus.Partition]) async {
        var settingsAreDueAt = Instant.now
        while !Task.isCancelled {
            let waiting = await positions().filter { ($0.waiting ?? 0) > 0 }
            let asksSettings = settingsAreDueAt <= .now
            if asksSettings { settingsAreDueAt = .now + Self.settingsPeriod }
            await look(at: waiting, asksSettings: asksSettings)
            try? await Task.sleep(for: Self.period)
        }
    }

    /// Asks the brokers what is missing. The client is made for each look, because most workers never need one.
    private func look(at waiting: [LaneStatus.Partition], asksSettings: Bool) async {
        var state = state
        state.endangered = state.retention == nil ? nil : 0
        defer { current.withLock { [state] in $0 = state } }
        guard asksSettings || (state.retention != nil && !waiting.isEmpty) else { return }

        do throws(KafkaError) {
            let admin = try TopicAdmin(configuration, log: log)
            if asksSettings {
                state.retentions = [:]
                for topic in topics { state.retentions[topic] = try await retention(of: topic, by: admin) }
            }
            state.endangered = nil
            guard !state.retentions.isEmpty else { return }

            var endangered: Int64 = 0
            for (topic, retention) in state.retentions {
                let waiting = waiting.filter { $0.id.topic == topic }
                guard !waiting.isEmpty else { continue }
                let half = Self.middle(of: retention, before: EventTime.now().milliseconds)
                let boundaries = try await admin.offsets(of: waiting.map(\.id), since: half, within: Self.timeout)
                endangered = endangered.saturatingAdding(Self.endangered(of: waiting, boundaries: boundaries))
            }
            state.endangered = endangered
        } catch {
            state.endangered = nil
            log.debug("how long requests may wait is not known", metadata: ["reason": "\(error)"])
        }
    }

    /// - Returns: `nil` without a limit, and where the brokers do not tell.
    private func retention(of topic: String, by admin: TopicAdmin) async throws(KafkaError) -> Duration? {
        do throws(KafkaError) {
            let settings = try await admin.configuration(of: topic, within: Self.timeout)
            return Self.retention(from: settings)
        } catch {
            guard error.kind == .authentication || error.kind == .unsupported else { throw error }
            log.debug("how long requests are kept may not be asked for", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    // MARK: - What follows from the answers

    static func retention(from settings: [String: String]) -> Duration? {
        guard let milliseconds = settings["retention.ms"].flatMap({ Int64($0) }), milliseconds > 0 else { return nil }
        return .milliseconds(milliseconds)
    }

    /// Returns the instant half of a retention ago, in milliseconds since 1970.
    static func middle(of retention: Duration, before now: Int64) -> Int64 {
        let half = retention.components.seconds / 2
        return half > now / 1000 ? 0 : now - half * 1000  // bounded: half a retention is below `now`
    }

    /// Counts what waits before the first record that is young enough.
    /// - Parameter boundaries: the offset of that record in each partition; none where all records are too old.
    static func endangered(of waiting: [LaneStatus.Partition], boundaries: [TopicPartition: Int64]) -> Int64 {
        waiting.reduce(0) { sum, partition in
            guard let next = partition.next ?? partition.committed, let end = partition.end else { return sum }
            let waiting = min(boundaries[partition.id] ?? end, end).saturatingSubtracting(next)
            return sum.saturatingAdding(max(0, waiting))
        }
    }
}
