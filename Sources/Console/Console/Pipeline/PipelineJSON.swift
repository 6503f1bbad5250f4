internal import EventContract
package import JSON

/// Writes a report in the form for the pages and `locsearch status --json`. Unknown values are left out.
package enum PipelineJSON {
    /// - Parameter withPartitions: false for pages that show only totals.
    package static func text(of report: PipelineReport, withPartitions: Bool) -> [UInt8] {
        JSONWriter.object(capacity: 2048) { json in
            write(report, withPartitions: withPartitions, to: &json)
        }
    }

    /// Writes the members of a report into an open object.
    package static func write(_ report: PipelineReport, withPartitions: Bool, to json: inout JSONWriter) {
        json.member("verdict", report.verdict.rawValue)
        json.member("problem", report.problem)
        if let workers = report.workers {
            json.object("workers") { json in
                json.member("asked", workers.asked)
                json.member("answering", workers.answering)
                json.member("ready", workers.ready)
            }
            json.object("outcomes") { json in write(workers.outcomes, to: &json) }
            json.objects("providers", of: workers.providers) { provider, json in
                json.member("provider", provider.name)
                json.member("state", provider.state)
                json.member("reason", provider.reason)
                json.member("timeLeftMs", provider.secondsLeft.map { $0 * 1000 })
                json.member("workers", provider.workers)
                json.member("isInTrouble", provider.isInTrouble)
                if let calls = provider.calls { json.object("calls") { json in write(calls, to: &json) } }
            }
        }
        if let backlog = report.backlog {
            json.object("backlog") { json in write(backlog, of: report, withPartitions: withPartitions, to: &json) }
        }
    }

    private static func write(_ ends: RecentEnds, to json: inout JSONWriter) {
        json.member("windowMs", ends.seconds * 1000)
        json.member("total", ends.total)
        json.member("failed", ends.failed)
        json.member("failedPercent", ends.failedPercent)
        json.member("code", ends.mainCode)
        json.member("areFailing", ends.areFailing)
    }

    private static func write(
        _ backlog: GroupBacklog, of report: PipelineReport, withPartitions: Bool, to json: inout JSONWriter
    ) {
        json.member("group", backlog.group)
        json.member("topic", backlog.topic)
        if !backlog.topics.isEmpty {
            json.objects("topics", of: backlog.byTopic) { part, json in
                json.member("topic", part.topic.name)
                json.member("classes", part.topic.classes)
                writeTotals(of: part.backlog, to: &json)
            }
        }
        json.member("at", backlog.time.description)
        json.member("groupState", backlog.state)
        json.member("members", backlog.members?.count)
        json.member("membersUnknown", backlog.membersUnknown)
        writeTotals(of: backlog, to: &json)

        if let rates = backlog.rates {
            json.object("rates") { json in
                json.member("windowMs", rates.window.milliseconds(roundedUp: false))
                json.member("arrivedPerSecond", rates.arrived)
                json.member("finishedPerSecond", rates.finished)
            }
        }
        switch report.workOff {
        case .unknown: break
        case .time(let time): json.member("workOffMs", time.milliseconds(roundedUp: false))
        case .never: json.member("makesNoProgress", true)
        }

        guard withPartitions else { return }
        if let members = backlog.members { json.member("memberNames", members) }
        let unread = Set(report.unread)
        json.objects("partitions", of: backlog.partitions) { partition, json in
            json.member("topic", partition.topic)
            json.member("partition", Int(partition.number))
            json.member("committed", partition.committed.map { Int($0) })
            json.member("end", Int(partition.end))
            json.member("lag", partition.lag.map { Int($0) })
            json.member("doneBeyond", Int(partition.doneBeyond))
            json.member("waiting", partition.waiting.map { Int($0) })
            json.member("oldestMs", backlog.age(of: partition)?.milliseconds(roundedUp: false))
            json.member("member", partition.member)
            json.member("isUnread", unread.contains(partition) ? true : nil)
        }
    }

    private static func writeTotals(of backlog: GroupBacklog, to json: inout JSONWriter) {
        json.member("waiting", backlog.waiting.map { Int($0) })
        json.member("lag", backlog.lag.map { Int($0) })
        json.member("doneBeyond", Int(backlog.doneBeyond))
        json.member("oldestMs", backlog.oldestAge?.milliseconds(roundedUp: false))
    }
}
