import Console
import EventContract
import Kafka
import LocationSearch
import Logging
import Synchronization
import WorkerRuntime

/// The dead letters for the console's page. It lists, reads, validates and redrives them with the code of `locsearch
/// dead-letters`. Safe to use from any thread.
final class DeadLetterService: Sendable {
    /// How long a page waits for the broker before it gets an error.
    private static let timeout = Duration.seconds(10)
    /// How much of the dead-letter topic a list covers, and how long the list is cached. Text searches cover only the
    /// first bytes of keys and values.
    private static let extentOfList = DeadLetterTopic.Extent(
        records: 20_000, time: .seconds(30), bytes: 100_000_000, headBytes: 1000)
    private static let lifetimeOfList = Duration.seconds(2)
    /// How long outcomes are read after the last letter was sent back.
    private static let wait = Duration.seconds(60)
    private static let timeoutOfOutcomes = Duration.seconds(5)
    /// About the interval at which a page requests the report.
    private static let interval = Duration.milliseconds(500)
    private static let mostReports = 32
    /// The maximum number of runs that wait for outcomes: each uses its own Kafka clients.
    private static let mostRuns = 4
    private static let mostLettersAtHand = 8

    private struct State {
        var isRedriving = false
        var lastReport = 0
        var reports: [Int: RedriveReport] = [:]
        var runs: [Int: Task<Void, Never>] = [:]
        /// The letters read most recently, newest last. They can be cached because a record never changes.
        var letters: [(mark: RedriveMark, letter: DeadLetter)] = []
    }

    private let settings: Settings
    private let log: Logger
    private let judge: RequestJudge
    private let state = Mutex(State())
    /// All pages share one list, because building it requires reading the topic.
    private let reading: SharedReading<Reading, ConsoleError>

    private struct Reading: Sendable {
        let snapshot: DeadLetterTopic.Snapshot
        let time: WallTime
    }

    init(_ settings: Settings, log: Logger) {
        self.settings = settings
        self.log = log
        judge = RequestJudge(settings)
        reading = SharedReading(keptFor: Self.lifetimeOfList) {
            do throws(ConsoleError) {
                let topic = try Self.topic(settings, log: log)
                let snapshot = try await ConsoleError.asking { try await topic.snapshot(of: Self.extentOfList) }
                return .success(Reading(snapshot: snapshot, time: .now()))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Cancels the runs in progress. Letters that were not sent yet stay pending.
    func close() async {
        let runs = state.withLock { state in Array(state.runs.values) }
        for run in runs { run.cancel() }
        for run in runs { await run.value }
    }

    // MARK: - Reading

    func list(_ query: DeadLetterQuery) async throws(ConsoleError) -> DeadLetterList {
        let reading = try await reading.value()
        let letters = reading.snapshot.letters
        let search = query.text.map { TextSearch($0) }
        let matching = letters.filter { query.matches($0) && search?.matches($0) ?? true }
        return DeadLetterList(
            total: letters.count, pending: letters.count(where: \.isPending), matching: matching.count,
            letters: matching.suffix(query.limit).reversed(), groups: DeadLetterGroups(letters),
            readAt: reading.time, version: reading.snapshot.version, isPartial: reading.snapshot.isPartial)
    }

    /// Returns a whole letter as JSON. Whether it was redriven is known only if the list contains it.
    func whole(_ mark: RedriveMark) async throws(ConsoleError) -> [UInt8] {
        let letter = try await letter(mark)
        var summary = DeadLetterSummary(letter, at: mark, judge: judge)
        let listed = try await reading.value().snapshot.letters.first { $0.mark == mark }
        summary.isRedriven = listed?.isRedriven ?? false
        return Array(WholeLetter(letter: letter, summary: summary).json.utf8)
    }

    func fault(of value: [UInt8], in mark: RedriveMark) async throws(ConsoleError) -> SearchError? {
        judge.fault(of: try await letter(mark).with(value: value))
    }

    private func letter(_ mark: RedriveMark) async throws(ConsoleError) -> DeadLetter {
        if let known = state.withLock({ $0.letters.last { $0.mark == mark }?.letter }) { return known }

        let topic = try Self.topic(settings, log: log)
        guard let letter = try await ConsoleError.asking({ try await topic.letter(at: mark) }) else {
            throw ConsoleError(
                .notFound,
                "there is no dead letter at \(mark.partition)/\(mark.offset), or the topic has deleted it")
        }
        state.withLock { state in
            state.letters.append((mark, letter))
            if state.letters.count > Self.mostLettersAtHand { state.letters.removeFirst() }
        }
        return letter
    }

    // MARK: - Sending back

    func report(_ id: Int) -> RedriveReport? { state.withLock { $0.reports[id] } }

    /// Begins a run after checking that each of the chosen letters may be redriven.
    /// - Parameter expiry: letters with an expiry get a new one, this long after they are sent; `nil`: they keep theirs.
    /// - Parameter again: also sends letters that were redriven before.
    func redrive(
        _ letters: [RedriveMark: [UInt8]?], ofVersion version: String, expiry: Duration? = nil, again: Bool = false
    ) async throws(ConsoleError) -> (id: Int, report: RedriveReport) {
        // Two runs at the same time would not see each other's marks, and would send letters twice.
        let isFirst = try state.withLock { state throws(ConsoleError) in
            guard state.runs.count < Self.mostRuns else {
                throw ConsoleError(.busy, "outcomes of earlier letters are still pending: try again in a minute")
            }
            defer { state.isRedriving = true }
            return !state.isRedriving
        }
        guard isFirst else {
            throw ConsoleError(.changed, "another user is sending dead letters back: try again in a moment")
        }

        do throws(ConsoleError) {
            return begin(try await plan(letters, ofVersion: version, expiry: expiry, again: again))
        } catch {
            state.withLock { $0.isRedriving = false }
            throw error
        }
    }

    /// The letters of one run and what it needs to send them.
    private struct Plan: Sendable {
        let topic: DeadLetterTopic
        let snapshot: DeadLetterTopic.Snapshot
        let chosen: [DeadLetterSummary]
        let values: [RedriveMark: [UInt8]]
        let expiry: Duration?
        let report: RedriveReport
    }

    private func plan(
        _ letters: [RedriveMark: [UInt8]?], ofVersion version: String, expiry: Duration?, again: Bool
    ) async throws(ConsoleError) -> Plan {
        let values = letters.compactMapValues { $0 }
        let topic = try Self.topic(settings, log: log)
        let snapshot = try await ConsoleError.asking { try await topic.snapshot(of: letters) }
        guard snapshot.continues(version) else {
            throw ConsoleError(.changed, "the topic was recreated: reload its dead letters")
        }

        let plan = RedrivePlan(again ? snapshot.letters.map(\.unmarked) : snapshot.letters, limit: nil)
        if let faulty = plan.faulty.first(where: { values[$0.mark] != nil }) {
            throw ConsoleError(
                .invalid, "this is still not a valid request: \(faulty.fault ?? "")", member: faulty.faultMember)
        }
        guard plan.crashing == 0 else {
            throw ConsoleError(
                .invalid,
                """
                \(plan.crashing) of them have crashed worker processes, so nothing was sent: after the cause is fixed, \
                `locsearch dead-letters redrive --reason \(DeadLetter.crashedWorkers) --force` sends them
                """)
        }
        let report = RedriveReport(
            chosen: plan.chosen.count, wentBefore: plan.redrivenBefore, deleted: letters.count - snapshot.letters.count,
            wait: Self.wait)
        return Plan(
            topic: topic, snapshot: snapshot, chosen: plan.chosen, values: values, expiry: expiry, report: report)
    }

    private func begin(_ plan: Plan) -> (id: Int, report: RedriveReport) {
        state.withLock { state in
            state.lastReport += 1  // bounded: one for each request from a page
            let id = state.lastReport
            state.reports[id] = plan.report
            state.reports[id - Self.mostReports] = nil  // bounded: both are small
            state.runs[id] = Task { await self.run(plan, id: id) }
            return (id, plan.report)
        }
    }

    private func run(_ plan: Plan, id: Int) async {
        var outcomes: RedriveOutcomes?
        do {
            outcomes = try await RedriveOutcomes(settings, within: Self.timeoutOfOutcomes, log: log)
        } catch {
            update(id) { $0.outcomesProblem = "\(error)" }
        }

        do {
            var run = try RedriveRun(settings, rate: RedriveRun.defaultRate, outcomes: outcomes, log: log)
            run.expiry = plan.expiry
            do {
                let deleted = try await run.send(
                    plan.chosen, of: plan.snapshot, in: plan.topic, values: plan.values, progress: { note($0, in: id) })
                update(id) { $0.deleted += deleted }  // bounded: at most the number of chosen letters
            } catch {
                update(id) { $0.problem = "\(error)" }
            }
            await run.close()
            await endSending(id)
            await waitForOutcomes(of: run, id: id)
        } catch {
            update(id) { $0.problem = "\(error)" }
            await endSending(id)
        }
        state.withLock { state in
            state.reports[id]?.isWaiting = false
            state.runs[id] = nil
        }
    }

    /// Allows the next run to begin. That run reads the topic again, including the marks of this one.
    private func endSending(_ id: Int) async {
        await reading.forget()
        state.withLock { state in
            state.reports[id]?.isSending = false
            state.isRedriving = false
        }
    }

    private func waitForOutcomes(of run: RedriveRun, id: Int) async {
        var run = run
        let end = Instant.now + Self.wait
        while let outcomes = run.outcomes, !outcomes.isComplete, Instant.now < end, !Task.isCancelled {
            await run.readOutcomes(until: min(end, .now + Self.interval))
            note(run, in: id)
        }
        note(run, in: id)
    }

    private func note(_ run: RedriveRun, in id: Int) {
        update(id) { report in
            report.sent = run.sent
            if let problem = run.outcomesProblem { report.outcomesProblem = problem }
            guard let outcomes = run.outcomes else { return }
            (report.completed, report.failed) = (outcomes.completed, outcomes.failed)
            (report.cameBack, report.open) = (outcomes.rejectedAgain, outcomes.openCount)
        }
    }

    private func update(_ id: Int, _ change: (inout RedriveReport) -> Void) {
        state.withLock { state in
            guard var report = state.reports[id] else { return }
            change(&report)
            state.reports[id] = report
        }
    }

    // MARK: - The topic

    private static func topic(_ settings: Settings, log: Logger) throws(ConsoleError) -> DeadLetterTopic {
        do {
            return try DeadLetterTopic(settings, timeout: timeout, log: log)
        } catch {
            throw ConsoleError(.unavailable, "\(error)")
        }
    }
}

extension DeadLetterQuery {
    /// Returns true if all conditions except the text match.
    fileprivate func matches(_ letter: DeadLetterSummary) -> Bool {
        if let reason, letter.reason != reason { return false }
        if let member, letter.member ?? "" != member { return false }
        if let producer, letter.producer ?? "" != producer { return false }
        return since.map { since in letter.time.map { $0 >= since } ?? false } ?? true
    }
}
