import HTTPServing
import JSON
import Kafka
import LocationSearch
import Observability
internal import QuotaSharing
import Synchronization
import WorkerRuntime

/// The state of a worker for its admin endpoints.
///
/// Everything is read with a timeout, because a probe must get an answer even if an event loop is stuck.
struct WorkerStatus: AdminSource {
    /// How long the event loops may take to answer.
    private static let timeout = Duration.seconds(2)
    private static let loopProblem = "an event loop does not respond"

    let worker: WorkerProcess
    let watch: LoopWatch
    let registry: MetricsRegistry
    private let tenants = TenantSeries()
    /// `nil` if the retention of requests is not watched.
    var retention: RetentionWatch?
    /// `nil` if the ends of requests and calls are not watched.
    var ends: EndWatch?
    /// `kafka.groupId`.
    var group = ""
    /// Further workers of a demo, which share the registry.
    var others: [WorkerProcess] = []

    private func lanes() async -> [LaneStatus]? {
        await answer(within: Self.timeout) { [worker, others] in
            var statuses = await worker.statuses()
            for other in others { statuses += await other.statuses() }
            return statuses
        }
    }

    private func providers() async -> [ProviderSummary]? {
        await answer(within: Self.timeout) { [worker] in ProviderSummary.all(await worker.providerStatuses()) }
    }

    private func controls() async -> ControlStatus? {
        await answer(within: Self.timeout) { [worker] in await worker.controls() } ?? nil
    }

    // MARK: - Probes

    func livenessProblem() async -> String? { watch.problem }

    func readiness() async -> Readiness {
        let (lanes, providers, controls) = (await lanes(), await providers(), await controls())
        if let problem = readinessProblem(lanes, providers: providers, controls: controls) { return .notReady(problem) }
        return providerProblem(providers, controls).map { .answersWithErrors($0) } ?? .ready
    }

    /// Returns why no provider can be called; `nil` if one can.
    private func providerProblem(_ providers: [ProviderSummary]?, _ controls: ControlStatus?) -> String? {
        ProviderSummary.problem(of: providers ?? [], automatic: worker.automaticProviders) { provider in
            controls?.pause(.pauseProvider, of: provider).map { "paused \($0.origin)" }
        }
    }

    /// Returns why the worker takes no requests; `nil` if it takes them, even if it can only answer with errors.
    private func readinessProblem(
        _ lanes: [LaneStatus]?, providers: [ProviderSummary]?, controls: ControlStatus?
    ) -> String? {
        guard let lanes, providers != nil else { return Self.loopProblem }
        if lanes.contains(where: \.isDraining) { return "draining" }
        if worker.isStarting { return "starting" }
        if lanes.contains(where: \.brokersAreDown) { return "no broker answers" }
        // A rebalance may delay commits for up to this long.
        if let overdue = Self.longestOverdue(of: lanes), overdue >= .seconds(1) { return "offsets are not committed" }
        if let problem = lanes.compactMap(\.delivery.problem).first { return problem }
        if lanes.allSatisfy(\.positions.isEmpty) {
            return lanes.compactMap(\.groupRefusal).first ?? "no partitions assigned yet"
        }
        let partitions = lanes.flatMap(\.positions)
        if let problem = partitions.first?.problem, partitions.allSatisfy({ $0.problem != nil }) { return problem }
        return controls?.pause(.pauseIntake).map { "intake is paused \($0.origin)" }
    }

    /// Returns the longest time for which a lane could not commit; `nil` if all can commit.
    static func longestOverdue(of lanes: [LaneStatus]) -> Duration? { lanes.compactMap(\.delivery.commitOverdue).max() }

    // MARK: - Metrics

    func metrics(asOpenMetrics: Bool) async -> String {
        let (lanes, providers, controls) = (await lanes(), await providers(), await controls())

        // Values that need no loop are always included, because they are needed most when a loop is stuck.
        let isReady = readinessProblem(lanes, providers: providers, controls: controls) == nil
        let text =
            registry.text(withExemplars: asOpenMetrics)
            + PrometheusText.family("locsearch_ready", isReady ? 1 : 0)
            + (lanes.map { Self.laneMetrics($0, tenants: tenants) } ?? "")
            + backlogMetrics(lanes, providers: providers, controls: controls)
            + PrometheusText.family("locsearch_worker_info", [(labels: [("group", group)], value: 1)])
            + retentionMetrics
            + Self.buildInfo
            + (providers.map(ProviderSummary.prometheusText) ?? "")
            + fleetMetrics
            + (controls.map(Self.controlMetrics) ?? "")
            + PrometheusText.family(
                "locsearch_log_lines_dropped_total", Double(LineOutput.standardError.droppedLines))
            + ProcessMetrics.prometheusText
        return asOpenMetrics ? PrometheusText.openMetrics(text) : text
    }

    private func backlogMetrics(
        _ lanes: [LaneStatus]?, providers: [ProviderSummary]?, controls: ControlStatus?
    ) -> String {
        guard let lanes, let providers else { return "" }
        // An order for the whole fleet would also apply to an additional worker.
        let isPaused = controls?.pause(.pauseIntake).map { $0.instance == nil } ?? false
        let backlog =
            isPaused ? 0 : Self.runnableBacklog(lanes, providers: providers, automatic: worker.automaticProviders)
        return PrometheusText.family("locsearch_runnable_backlog", Double(backlog))
    }

    private var retentionMetrics: String {
        guard let state = retention?.state else { return "" }
        return [
            state.retention.map { PrometheusText.family("locsearch_requests_retention_seconds", $0 / .seconds(1)) },
            state.endangered.map { PrometheusText.family("locsearch_requests_past_half_retention", Double($0)) },
        ].compactMap { $0 }.joined()
    }

    private var fleetMetrics: String {
        guard let link = worker.link, link.carriesQuota else { return "" }
        return PrometheusText.family("locsearch_fleet_topic_usable", link.problem == nil ? 1 : 0)
    }

    private static var buildInfo: String {
        PrometheusText.family(
            "locsearch_build_info",
            [(labels: [("version", Version.current), ("librdkafka", "\(LibraryVersion.running)")], value: 1)])
    }

    // MARK: - Status

    func status() async -> String {
        let (lanes, providers, controls) = (await lanes(), await providers(), await controls())
        let notReady = readinessProblem(lanes, providers: providers, controls: controls)

        let text = JSONWriter.objectText(capacity: 1024) { json in
            json.member("host", HostName.own)
            json.member("name", HostName.worker)
            json.member("version", Version.current)
            json.member("ready", notReady == nil)
            json.member("notReady", notReady)
            if notReady == nil { json.member("answersWithErrors", providerProblem(providers, controls)) }
            if let ends { json.object("lastOutcomes") { json in ends.write(of: nil, to: &json) } }
            if let lanes { Self.write(lanes, to: &json) }
            if let providers {
                json.objects("providers", of: providers) { summary, json in
                    summary.write(to: &json)
                    guard let ends else { return }
                    json.object("lastCalls") { json in ends.write(of: summary.provider, to: &json) }
                }
            }
            if let link = worker.link {
                json.object("fleet") { json in
                    json.member("topicUsable", link.problem == nil)
                    json.member("problem", link.problem)
                }
            }
            if let controls { json.object("controls") { json in controls.write(to: &json) } }
        }
        return text + "\n"
    }

    private static func write(_ lanes: [LaneStatus], to json: inout JSONWriter) {
        json.member("inFlight", lanes.reduce(0) { $0 + $1.inFlight })
        json.member("undelivered", lanes.reduce(0) { $0 + $1.unconfirmed })
        json.objects("waiting", of: Self.waitingFlows(lanes).prefix(20)) { waiting, json in
            json.member("class", waiting.flow.requestClass.rawValue)
            json.member("tenant", waiting.flow.tenant.isEmpty ? nil : waiting.flow.tenant)
            json.member("requests", waiting.count)
            json.member("longestSeconds", waiting.longest / .seconds(1))
        }
        json.member("draining", lanes.contains(where: \.isDraining))
        json.member("deliveryProblem", lanes.compactMap(\.delivery.problem).first)
        json.member("commitOverdueSeconds", longestOverdue(of: lanes).map { $0 / .seconds(1) })

        json.objects("assignment", of: lanes.flatMap(\.positions).sorted(by: { $0.id < $1.id })) { partition, json in
            json.member("topic", partition.id.topic)
            json.member("partition", Int(partition.id.partition))
            json.member("inFlight", partition.open)
            json.member("committed", partition.committed.map(Int.init))
            json.member("end", partition.end.map(Int.init))
            json.member("lag", partition.lag.map(Int.init))
            json.member("problem", partition.problem)
        }
    }
}

/// Counts how requests and calls ended in the last minute, from the counters of the registry. Thread-safe.
final class EndWatch: Sendable {
    private static let (window, interval) = (Duration.seconds(60), Duration.seconds(5))
    private static let codes = ["ok"] + SearchError.Code.allCases.map(\.rawValue)

    private let registry: MetricsRegistry
    /// The counts by provider, and those of the outcomes as `nil`, in the order of `codes`. At most a window old, oldest
    /// first.
    private let readings = Mutex<[(time: Instant, counts: [ProviderID?: [Int64]])]>([])

    init(_ registry: MetricsRegistry, at now: Instant = .now) {
        self.registry = registry
        read(at: now)
    }

    /// Reads the counters until the task is cancelled.
    func run() async {
        while (try? await Task.sleep(for: Self.interval)) != nil { read(at: .now) }
    }

    func read(at now: Instant) {
        let owners: [ProviderID?] = [nil] + ProviderID.allCases
        let all = Dictionary(uniqueKeysWithValues: owners.map { ($0, counts(of: $0)) })  // bounded: no owner repeats
        readings.withLock { readings in
            readings.removeAll { $0.time.duration(to: now) > Self.window }
            readings.append((now, all))
        }
    }

    private func counts(of provider: ProviderID?) -> [Int64] {
        Self.codes.map { code in
            if let provider {
                let labels = [("provider", provider.rawValue), ("code", code)]
                return registry.value(of: "locsearch_provider_call_duration_seconds", dimensions: labels)
            }
            if code == "ok" { return registry.total(of: "locsearch_requests_completed_total") }
            return registry.value(of: "locsearch_requests_failed_total", dimensions: [("code", code)])
        }
    }

    /// Writes the members of an object of `/status`: a `RecentEnds`.
    /// - Parameter provider: the provider of the calls; `nil`: the outcomes of requests.
    func write(of provider: ProviderID?, to json: inout JSONWriter, at now: Instant = .now) {
        guard let first = readings.withLock({ $0.first }), let before = first.counts[provider] else { return }
        json.member("seconds", first.time.duration(to: now).inSeconds.rounded())
        json.object("counts") { json in
            for ((code, count), before) in zip(zip(Self.codes, counts(of: provider)), before) where count > before {
                json.key(code)
                json.value(Int(count - before))  // bounded: counts of this process
            }
        }
    }
}
