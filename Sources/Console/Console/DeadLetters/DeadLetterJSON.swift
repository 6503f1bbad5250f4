internal import EventContract
internal import JSON
internal import LocationSearch

/// Writes the JSON for the page of dead letters.
enum DeadLetterJSON {
    static func list(_ list: DeadLetterList) -> [UInt8] {
        JSONWriter.object(capacity: 16384) { json in
            json.member("total", list.total)
            json.member("pending", list.pending)
            json.member("matching", list.matching)
            json.member("readAt", list.readAt.description)
            json.member("confirm", list.version)
            if list.isPartial { json.member("isPartial", true) }
            json.objects("groups", of: list.groups) { group, json in write(group, to: &json) }
            json.objects("letters", of: list.letters) { letter, json in write(letter, to: &json) }
        }
    }

    private static func write(_ group: DeadLetterList.Group, to json: inout JSONWriter) {
        json.member("reason", group.reason)
        json.member("member", group.member)
        json.member("producer", group.producer)
        json.member("letters", group.letters)
        json.member("pending", group.pending)
        json.member("faulty", group.faulty)
        json.member("oldest", group.oldest?.description)
        json.member("newest", group.newest?.description)
    }

    private static func write(_ letter: DeadLetterList.Letter, to json: inout JSONWriter) {
        json.member("partition", Int(letter.position.partition))
        json.member("offset", Int(letter.position.offset))
        json.member("time", letter.time?.description)
        json.member("reason", letter.reason)
        json.member("message", letter.message)
        json.member("member", letter.member)
        json.member("producer", letter.producer)
        if let source = letter.source { json.member("source", of: source) }
        json.member("valueHead", letter.valueHead)
        json.member("isRedriven", letter.isRedriven)
        json.member("isWithoutContent", letter.isWithoutContent)
        json.member("isOutcome", letter.isOutcome)
        json.member("crashesWorkers", letter.crashesWorkers)
        json.member("fault", letter.fault)
    }

    /// Returns the fault of an edited value; an empty object if there is none.
    static func fault(_ error: SearchError?) -> [UInt8] {
        JSONWriter.object(capacity: 256) { json in
            if let error {
                json.object("fault") { json in
                    json.member("message", error.message)
                    json.member("member", error.member)
                }
            }
        }
    }

    /// Returns the progress of a redrive.
    static func report(_ report: RedriveReport, id: Int) -> [UInt8] {
        JSONWriter.object(capacity: 512) { json in
            json.member("id", id)
            json.member("chosen", report.chosen)
            json.member("wentBefore", report.wentBefore)
            json.member("deleted", report.deleted)
            json.member("sent", report.sent)
            json.member("isSending", report.isSending)
            json.member("problem", report.problem)
            json.member("completed", report.completed)
            json.member("cameBack", report.cameBack)
            json.member("open", report.open)
            json.member("isWaiting", report.isWaiting)
            json.member("waitMs", report.wait / .milliseconds(1))
            json.member("outcomesProblem", report.outcomesProblem)
            json.objects("failed", of: report.failed.sorted { ($1.value, $0.key) < ($0.value, $1.key) }) {
                entry, json in
                json.member("code", entry.key)
                json.member("count", entry.value)
            }
        }
    }
}
