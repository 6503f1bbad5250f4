internal import EventContract
internal import JSON
internal import LocationSearch

/// Writes the JSON for the traffic view.
enum TrafficJSON {
    /// Returns one row of the table of outcomes.
    static func row(of record: OutcomeRecord, id: Int) -> [UInt8] {
        JSONWriter.object(capacity: 512) { json in
            json.member("id", id)
            json.member("code", record.code)
            json.members(of: record.position)
            json.member("order", Int(record.time.milliseconds))
            if let event = record.event { write(event, to: &json) }
            json.member("waitedMs", record.waitedMilliseconds)
            json.member("workedMs", record.workedMilliseconds)
            json.member("tookMs", record.tookMilliseconds)
        }
    }

    private static func write(_ event: OutcomeEvent, to json: inout JSONWriter) {
        json.member("at", event.completedAt?.description)
        json.member("requestId", event.requestID)
        json.member("sessionId", event.sessionID)
        json.member("provider", event.provider)
        json.member("operation", event.operation)
        if case .completed(let result) = event.body, event.operation == "search" {
            json.member("places", result.places.count)
        }
        json.member("upstreamMs", event.upstream?.milliseconds(roundedUp: false))
        json.member("attempts", event.attempts)
        json.member("traceId", event.traceID)
        if let source = event.source { json.member("source", of: source) }
    }

    /// Returns a whole record, with the content of places that the terms allow.
    static func details(of record: OutcomeRecord, by terms: ContentTerms) -> [UInt8] {
        JSONWriter.object(capacity: 1024 + (record.value?.count ?? 0)) { json in
            json.members(
                ofKey: record.key, headers: record.headers, value: terms.allowed(record.value, of: record.event))
        }
    }

    /// Returns a JSON text that can be embedded in another one; `nil` for anything else.
    ///
    /// A byte order mark is allowed only at the start of a text, so it is removed. Strings must be UTF-8, which the reader
    /// does not check in skipped parts.
    private static func embeddable(_ value: [UInt8]) -> [UInt8]? {
        var reader = JSONReader(value.span)
        do throws(JSONError) {
            try reader.skip()
            try reader.finish()
        } catch {
            return nil
        }

        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = value.starts(with: byteOrderMark) ? Array(value.dropFirst(byteOrderMark.count)) : value
        return String(validating: text, as: UTF8.self) == nil ? nil : text
    }

    /// Returns the outcomes of one event of the stream.
    static func outcomes(_ entries: [LoggedOutcome]) -> [UInt8] {
        JSONWriter.object(capacity: 256 + entries.reduce(0) { $0 + $1.row.count + 1 }) { json in
            json.array("outcomes", of: entries) { entry, json in json.value(json: entry.row.span) }
        }
    }

    static func rates(_ seconds: some Sequence<OutcomeRates.Second>) -> [UInt8] {
        JSONWriter.object(capacity: 512) { json in
            json.objects("rates", of: seconds) { second, json in write(second, to: &json) }
        }
    }

    private static func write(_ second: OutcomeRates.Second, to json: inout JSONWriter) {
        json.member("at", WallTime(milliseconds: second.time * 1000).description)
        json.member("completed", second.completed)
        json.member("failed", second.failed)
        if let latency = second.latency {
            json.object("latencyMs") { json in
                json.member("p50", latency.p50)
                json.member("p95", latency.p95)
                json.member("p99", latency.p99)
            }
        }
    }

    /// Returns the states of the workers, each unchanged as the worker wrote it.
    static func workers(_ workers: [WorkerReport]) -> [UInt8] {
        JSONWriter.object(capacity: 4096) { json in
            json.objects("workers", of: workers) { worker, json in
                json.member("url", worker.url)
                json.member("reachable", worker.status != nil)
                json.member("problem", worker.problem)
                if let status = worker.status.flatMap(embeddable) {
                    json.key("status")
                    json.value(json: status.span)
                }
            }
        }
    }
}

extension JSONWriter {
    mutating func member(_ name: StaticString, of position: SourcePosition) {
        object(name) { json in json.members(of: position) }
    }

    mutating func members(of position: SourcePosition) {
        member("topic", position.topic)
        member("partition", Int(position.partition))
        member("offset", Int(position.offset))
    }
}

/// The answer of a worker's admin endpoint to `/status`.
package struct WorkerReport: Sendable, Hashable {
    /// The address of the worker's admin endpoints, from the setting.
    package let url: String
    /// The JSON of the answer; `nil` without an answer.
    package let status: [UInt8]?
    /// The reason if there is no answer, in one line.
    package let problem: String?

    package init(url: String, status: [UInt8]) {
        self.url = url
        self.status = status
        problem = nil
    }

    package init(url: String, problem: String) {
        self.url = url
        status = nil
        self.problem = problem
    }
}
