import Console
import EventContract
import JSON
import QuotaSharing

/// Formats the state of a fleet as text and as JSON.
enum StatusText {
    // MARK: - Text output

    static func lines(of report: PipelineReport, workers: [WorkerReport], orders: [ControlOrder] = []) -> [String] {
        guard let backlog = report.backlog else { return [] }
        let summaries = workers.filter { WorkerSummary($0) != nil || report.workers?.areNamed == true }

        return [
            TerminalText.safe(headline(of: report)), "",
        ] + health(of: report) + totals(of: backlog, in: report)
            + orders.map { TerminalText.safe("order".padded(to: 10) + $0.sentence) }
            + (summaries.isEmpty ? [] : [""] + table(of: summaries))
            + [""] + table(of: backlog)
    }

    private static func headline(of report: PipelineReport) -> String {
        let words =
            switch report.verdict {
            case .working: "workers take requests"
            case .noWorker: "no worker runs"
            case .workersNotReady: "no worker is ready"
            case .answersWithErrors: "workers take requests and answer with errors"
            case .partitionsUnread: "workers take requests, but not from all partitions"
            case .brokersAway: "no broker answers"
            case .unknown: "it is unknown whether workers take requests"
            }
        return words + (report.problem.map { ": \($0)" } ?? "") + silence(of: report.workers)
    }

    /// Counts the workers of `console.workers` that do not answer. Without it, a loss shows only until others take over.
    private static func silence(of workers: PipelineReport.Workers?) -> String {
        guard let workers, workers.areNamed, workers.answering > 0, workers.answering < workers.asked else { return "" }
        return "; \(workers.asked - workers.answering) of \(workers.asked) workers without an answer"
    }

    /// The unread partitions, the share of failures, and one line for each provider.
    private static func health(of report: PipelineReport) -> [String] {
        let unread = report.unread
        let outcomes = report.workers?.outcomes ?? RecentEnds()
        let lines =
            (unread.isEmpty ? [] : [("unread", words(of: unread, in: report))])
            + (outcomes.seconds > 0 ? [("failures", words(of: outcomes, "outcome"))] : [])
            + (report.workers?.providers ?? []).map { ("provider", words(of: $0, in: report)) }
        return lines.map { TerminalText.safe($0.0.padded(to: 10) + $0.1) }
    }

    private static func words(of unread: [GroupBacklog.Partition], in report: PipelineReport) -> String {
        let names = unread.map { ($0.topic.map { "\($0) " } ?? "") + "\($0.number)" }
        let members = Set(unread.compactMap(\.member)).sorted().joined(separator: ", ")
        let who = members.isEmpty ? "" : "; read by \(members), not a worker of console.workers"
        return "\(unread.count) of \((report.backlog?.partitions.count ?? 0).counted("partition")), "
            + "of which no worker takes requests: \(names.joined(separator: ", "))\(who)"
    }

    /// Formats the share of failures: `82 % of 512 outcomes over the last 1m, mostly timeout`.
    private static func words(of ends: RecentEnds, _ noun: String) -> String {
        let window = "over the last \(Duration.seconds(saturating: ends.seconds).readable)"
        let invalid = ends.counts["invalid-request"].map { $0 > 0 ? "; \($0.grouped) invalid" : "" } ?? ""
        guard ends.failed > 0 else { return "none of \(ends.total.counted(noun)) \(window)\(invalid)" }
        let code = ends.mainCode.map { ", mostly \($0)" } ?? ""
        return "\(ends.failedPercent) % of \(ends.total.counted(noun)) \(window)\(code)\(invalid)"
    }

    private static func words(of provider: PipelineReport.Provider, in report: PipelineReport) -> String {
        let state =
            switch (provider.state, provider.reason) {
            case ("closed", _): provider.calls?.areFailing == true ? "called, and fails" : "called as usual"
            case ("half-open", _): "test calls decide whether it is called again"
            case (_, "key-refused"): "not called: it rejects the API key"
            case (_, "quota-used-up"): "not called: the quota of the key is used up"
            case (_, "budget-used-up"): "not called: the budget is used up"
            case (_, "paused-by-order"): "not called: an operator paused it"
            case (_, "failure-rate"), (_, "probes-failed"): "not called: too many calls failed"
            case (_, "slow-call-rate"): "not called: too many calls were slow"
            case (_, "provider-rate-limit"): "calls wait: it reported too many requests"
            case (_, "provider-unavailable"): "calls wait: it reported that it is unavailable"
            default: "\(provider.state) \(provider.reason ?? "")"
            }
        let time = provider.secondsLeft.map { ", for \(Duration.seconds(saturating: $0.rounded()).readable)" } ?? ""
        let workers = report.workers?.answering ?? 0
        let share = provider.state == "closed" || workers < 2 ? "" : " (at \(provider.workers) of \(workers) workers)"
        let failed = provider.calls.map { $0.failed > 0 ? "; failures: \(words(of: $0, "call"))" : "" } ?? ""
        return "\(provider.name): \(state)\(time)\(share)\(failed)"
    }

    private static func totals(of backlog: GroupBacklog, in report: PipelineReport) -> [String] {
        let oldest = backlog.oldestAge.map { ", the oldest for \($0.readable)" } ?? ""
        let waiting =
            backlog.waiting.map { "\($0.counted("request"))\(oldest)" } ?? "unknown: nothing is committed yet"
        let lag = backlog.lag.map { "\($0.grouped) behind the committed offsets" } ?? "nothing is committed yet"
        let beyond = backlog.doneBeyond > 0 ? ", of which \(backlog.doneBeyond.grouped) are finished" : ""

        var lines = [("as of", backlog.time.description), ("waiting", waiting), ("lag", lag + beyond)]
        if let rates = backlog.rates {
            let window = "over the last \(rates.window.readable)"
            lines += [
                ("arrived", "\(decimal(rates.arrived)) per second \(window)"),
                ("finished", "\(decimal(rates.finished)) per second \(window)\(workOff(of: report))"),
            ]
        }
        lines += backlog.byTopic.map { ("topic", line(of: $0.backlog, in: $0.topic)) }
        lines += [("group", "\(backlog.group) on \(backlog.topicNames): \(members(of: backlog))")]
        return lines.map { TerminalText.safe($0.0.padded(to: 10) + $0.1) }
    }

    private static func line(of backlog: GroupBacklog, in topic: GroupBacklog.Topic) -> String {
        let name = "\(topic.name) (\(topic.classes))"
        guard let waiting = backlog.waiting else { return "\(name): nothing is committed yet" }
        let oldest = backlog.oldestAge.map { ", the oldest for \($0.readable)" } ?? ""
        let lag = backlog.lag.map { "; \($0.grouped) behind the committed offsets" } ?? ""
        return "\(name): \(waiting.counted("request"))\(oldest)\(lag)"
    }

    private static func workOff(of report: PipelineReport) -> String {
        guard let waiting = report.backlog?.waiting, waiting > 0 else { return "" }
        return switch report.workOff {
        case .unknown: ""
        case .time(let time): "; the backlog takes \(time.readable) at that rate"
        case .never: "; the backlog does not shrink"
        }
    }

    private static func members(of backlog: GroupBacklog) -> String {
        guard let members = backlog.members else {
            return "members unknown" + (backlog.membersUnknown.map { ": \($0)" } ?? "")
        }
        let state = backlog.state.map { "\($0), " } ?? ""
        guard !members.isEmpty else { return state + "no member" }

        // Each loop of a worker is a separate member.
        // bounded: the number of members of a group
        let counts = members.filter { !$0.isEmpty }.reduce(into: [:] as [String: Int]) { $0[$1, default: 0] += 1 }
        let names = counts.sorted { $0.key < $1.key }.map { $0.value > 1 ? "\($0.key) (\($0.value) members)" : $0.key }
        // Some brokers report the number of members without their names.
        let list = names.joined(separator: ", ")
        return state + members.count.counted("member") + (list.isEmpty ? "" : ": \(list)")
    }

    private static func table(of workers: [WorkerReport]) -> [String] {
        var table = TextTable([
            "worker", .left("state", maxWidth: 100), .right("in flight"), .right("partitions"), "version",
            .left("address", maxWidth: 80),
        ])
        for worker in workers {
            guard let summary = WorkerSummary(worker) else {
                table.add(["-", "no status: \(worker.problem ?? "not a worker")", "", "", "", worker.url])
                continue
            }
            let isReady = summary.answersWithErrors.map { "answers with errors: \($0)" } ?? "ready"
            let state = summary.isReady ? isReady : "not ready: \(summary.notReady ?? "no reason given")"
            table.add([
                summary.name ?? "-", state, summary.inFlight.grouped, summary.partitionCount.grouped,
                summary.version ?? "-",
                worker.url,
            ])
        }
        return table.lines
    }

    private static func table(of backlog: GroupBacklog) -> [String] {
        var table = TextTable([
            "topic", .right("partition"), .right("waiting"), .right("oldest"), .right("committed"), .right("end"),
            .right("lag"), "member",
        ])
        for partition in backlog.partitions {
            table.add([
                partition.topic ?? "", "\(partition.number)", partition.waiting.map(\.grouped) ?? "-",
                backlog.age(of: partition)?.readable ?? "", partition.committed.map { "\($0)" } ?? "-",
                "\(partition.end)", partition.lag.map(\.grouped) ?? "-", partition.member ?? "",
            ])
        }
        return table.lines
    }

    private static func decimal(_ number: Double) -> String {
        OutcomeText.decimal(number, places: number < 100 ? 1 : 0)
    }

    // MARK: - JSON output

    /// The report as one object, with the answers of all workers that were polled.
    static func json(of report: PipelineReport, workers: [WorkerReport], orders: [ControlOrder] = []) -> String {
        JSONWriter.objectText(capacity: 4096) { json in
            PipelineJSON.write(report, withPartitions: true, to: &json)
            json.objects("workerStates", of: workers) { worker, json in
                let summary = WorkerSummary(worker)
                json.member("url", worker.url)
                json.member("name", summary?.name)
                json.member("version", summary?.version)
                json.member("ready", summary?.isReady ?? false)
                json.member("problem", summary?.notReady ?? summary?.answersWithErrors ?? worker.problem)
                json.member("inFlight", summary?.inFlight)
                json.member("partitions", summary?.partitionCount)
            }
            json.objects("orders", of: orders) { order, json in
                order.writeMembers(to: &json)
            }
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
