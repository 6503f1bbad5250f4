import Basics
import EventContract
import SimulatedKafka
import SimulatedKafkaClients
import SimulatedLoop
import WorkerRuntime

/// Rules about sessions: a newer search ends the older ones of its partition, and never the other way round.
extension Judge {
    /// One request of a session and its outcomes.
    private struct Search {
        let request: FleetPlan.Request
        let offset: Int64
        var outcomes: [Outcome] = []
    }

    fileprivate struct Outcome {
        /// The error code; `nil` for a result.
        let code: String?
        let receivedAt: WallTime
        let completedAt: WallTime

        var isSuperseded: Bool { code == "superseded" }
    }

    mutating func judgeSessions() {
        // Offsets decide which of two searches is the newer one, and start again with a recreated topic.
        guard world.archivedTopics.isEmpty, plan.requests.contains(where: { $0.session != nil }) else { return }
        let outcomes = outcomesOfSessions()
        for (partition, requests) in world.requestAt.sorted(by: { $0.key < $1.key }) {
            var sessions: [String: [Int64: Search]] = [:]
            for (offset, request) in requests where request.isValid {
                guard let session = request.session else { continue }
                sessions[session, default: [:]][offset] = Search(
                    request: request, offset: offset, outcomes: outcomes[partition]?[offset] ?? [])
            }
            for (session, searches) in sessions.sorted(by: { $0.key < $1.key }) {
                judge(searches.values.sorted { $0.offset < $1.offset }, of: session, in: partition)
            }
        }
    }

    /// Returns the outcomes of requests that belong to a session, by the offsets of the requests.
    private func outcomesOfSessions() -> [PartitionID: [Int64: [Outcome]]] {
        var outcomes: [PartitionID: [Int64: [Outcome]]] = [:]
        for topic in ["results", "errors"] {
            for output in 0..<Int32(2) {
                for entry in world.network.cluster.log(of: PartitionID(topic, output))?.committed ?? [] {
                    guard let source = world.source(of: entry.record),
                        world.requestAt[source.partition]?[source.offset]?.session != nil,
                        let outcome = Outcome(entry.record)
                    else { continue }
                    outcomes[source.partition, default: [:]][source.offset, default: []].append(outcome)
                }
            }
        }
        return outcomes
    }

    /// - Parameter searches: in the order of their offsets.
    private mutating func judge(_ searches: [Search], of session: String, in partition: PartitionID) {
        if let newest = searches.last, newest.outcomes.contains(where: \.isSuperseded) {
            find(.newestSuperseded, "r\(newest.request.number) at \(partition)@\(newest.offset) of session \(session)")
        }

        // After a crash, and when a request is handed back, both are read again, and either may be answered first.
        guard plan.isGraceful, plan.wallSkew == 0 else { return }
        for (older, newer) in zip(searches, searches.dropFirst()) { judge(older, endedBy: newer) }
    }

    /// True for a search that timed out long before its deadline, where only a newer one can have ended it.
    private func wasCutShort(_ search: Search, _ end: Outcome) -> Bool {
        guard end.code == "timeout", search.request.lifetime == nil, plan.maxAge == nil, plan.failures == 0,
            plan.latency.upperBound < 1, !plan.givesCallsUp
        else { return false }
        return end.completedAt.duration(since: end.receivedAt) < .seconds(plan.settings.deadline * 0.5)
    }

    /// True if the older search may have been waiting while the newer one was answered, and was then read by another owner.
    ///
    /// That owner skips the newer search, which is done, so it does not supersede the older one.
    private func wasHandedBackMeanwhile(between begin: Outcome, and end: Outcome) -> Bool {
        guard plan.mixture != nil else { return false }
        let (first, last) = (begin.receivedAt, end.completedAt)
        return world.handovers.contains { handover in
            let time = handover.time
            return world.secondsOfSchedule(at: first.milliseconds * 1_000_000) - 1 <= time
                && time <= world.secondsOfSchedule(at: last.milliseconds * 1_000_000) + 1
        }
    }

    private func hasExpired(_ request: FleetPlan.Request, at time: WallTime) -> Bool {
        guard let lifetime = [request.lifetime, plan.maxAge].compactMap(\.self).min() else { return false }
        return request.time + lifetime <= world.secondsOfSchedule(at: time.milliseconds * 1_000_000)
    }

    private mutating func judge(_ older: Search, endedBy newer: Search) {
        guard older.outcomes.count == 1, newer.outcomes.count == 1, let end = older.outcomes.first,
            let begin = newer.outcomes.first
        else { return }
        // An expired search takes no part in its session. Its outcome may have to wait for earlier outcomes, or for room.
        guard begin.code != "expired" else { return }
        if end.code == "expired", hasExpired(older.request, at: begin.receivedAt) { return }

        if wasHandedBackMeanwhile(between: begin, and: end) { return }

        // Clocks of two processes differ; one process uses one clock.
        let slack = world.everyWorker.count == 1 ? Duration.milliseconds(2) : .milliseconds(500)
        let late = end.completedAt.duration(since: begin.receivedAt)
        if (late > slack || wasCutShort(older, end) && late > .zero - slack), !end.isSuperseded {
            find(
                .olderGoesOn,
                "r\(older.request.number) ended with \(end.code ?? "a result") \(late) after r\(newer.request.number) started"
            )
        }
    }
}

extension Judge.Outcome {
    fileprivate init?(_ record: SimulatedRecord) {
        let headers = record.headers.map { RecordHeader($0.name, $0.value) }
        guard let event = try? OutcomeReader().read(value: record.value, headers: headers),
            let receivedAt = event.receivedAt, let completedAt = event.completedAt
        else { return nil }
        if case .failed(let failure) = event.body { code = failure.code } else { code = nil }
        (self.receivedAt, self.completedAt) = (receivedAt, completedAt)
    }
}
