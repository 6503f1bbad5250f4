import EventContract
import Kafka
import Logging
import Synchronization
import WorkerRuntime

/// Counts the waiting requests that are older than half of their topic's retention. Safe to use from any task.
///
/// Kafka deletes records older than the topic's `retention.ms`, whether they have been read or not. The ages are
/// read from the brokers, because a paused worker has not read the waiting records.
final class RetentionWatch: Sendable {
    /// The state of the backlog at one moment.
    struct State: Sendable, Equatable {
        /// The retention of each topic. Topics without a limit are missing, and so are topics whose configuration this
        /// user may not read.
        var retentions: [String: Duration] = [:]
        /// The number of waiting requests older than half the retention; `nil` while it is unknown.
        var endangered: Int64?

        /// The shortest retention of a topic.
        var retention: Duration? { retentions.values.min() }
    }

    /// How often waiting requests are checked, and how often the topics' configurations are read.
    private static let (period, settingsPeriod) = (Duration.seconds(60), Duration.seconds(600))
    private static let timeout = Duration.seconds(5)

    private let topics: [String]
    private let configuration: ConsumerConfiguration
    private let log: Logger
    private let current = Mutex(State())

    /// - Parameters:
    ///   - topics: the request topics.
    ///   - configuration: how to connect. No group is joined.
    init(topics: [String], configuration: ConsumerConfiguration, log: Logger) {
        (self.topics, self.configuration, self.log) = (topics, configuration, log)
    }

    var state: State { current.withLock { $0 } }

    /// Checks repeatedly until the task is cancelled.
    /// - Parameter positions: returns the state of the worker's partitions.
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

    /// Reads from the brokers what is needed. A client is created for each check, because most workers never need one.
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
                let half = Self.middle(of: retention, before: WallTime.now().milliseconds)
                let boundaries = try await admin.offsets(of: waiting.map(\.id), since: half, within: Self.timeout)
                endangered = endangered.saturatingAdding(Self.endangered(of: waiting, boundaries: boundaries))
            }
            state.endangered = endangered
        } catch {
            state.endangered = nil
            log.debug("the time that requests may wait is unknown", metadata: ["reason": "\(error)"])
        }
    }

    /// - Returns: `nil` if there is no limit, or if the brokers do not return it.
    private func retention(of topic: String, by admin: TopicAdmin) async throws(KafkaError) -> Duration? {
        do throws(KafkaError) {
            let settings = try await admin.configuration(of: topic, within: Self.timeout)
            return Self.retention(from: settings)
        } catch {
            guard error.kind == .authentication || error.kind == .unsupported else { throw error }
            log.debug("the retention of requests cannot be read", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    // MARK: - Computation

    static func retention(from settings: [String: String]) -> Duration? {
        guard let milliseconds = settings["retention.ms"].flatMap({ Int64($0) }), milliseconds > 0 else { return nil }
        return .milliseconds(milliseconds)
    }

    /// Returns the time half a retention ago, in milliseconds since 1970.
    static func middle(of retention: Duration, before now: Int64) -> Int64 {
        let half = retention.components.seconds / 2
        return half > now / 1000 ? 0 : now - half * 1000  // bounded: half a retention is below `now`
    }

    /// Counts the waiting requests before the first record that is recent enough.
    /// - Parameter boundaries: the offset of that record in each partition; missing if all records are too old.
    static func endangered(of waiting: [LaneStatus.Partition], boundaries: [TopicPartition: Int64]) -> Int64 {
        waiting.reduce(0) { sum, partition in
            guard let next = partition.next ?? partition.committed, let end = partition.end else { return sum }
            let waiting = min(boundaries[partition.id] ?? end, end).saturatingSubtracting(next)
            return sum.saturatingAdding(max(0, waiting))
        }
    }
}
