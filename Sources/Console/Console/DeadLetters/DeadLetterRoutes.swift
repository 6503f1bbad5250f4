internal import EventContract
internal import HTTPServing
internal import HummingbirdCore
internal import JSON
internal import LocationSearch

/// Shows dead letters, checks corrected ones, and sends chosen ones back. docs/console.md lists these routes.
struct DeadLetterRoutes {
    let backend: any ConsoleBackend
    let kafka: KafkaGate

    /// The maximum size of a page's choice of letters and of an edited value.
    private static let mostBytes = 2_097_152

    func add(to router: Router) {
        router.get("/api/dead-letters") { request, _ in
            let query = try DeadLetterQuery(request.uri.queryParameters)
            return try await kafka.answer(to: request) { try await backend.deadLetters(query) }
        }

        router.get("/api/dead-letters/:partition/:offset") { request, context in
            guard let partition = context.parameter("partition", as: Int32.self),
                let offset = context.parameter("offset", as: Int64.self), partition >= 0, offset >= 0
            else { throw ConsoleError(.notFound, "a dead letter is named by its partition and its offset") }
            let position = RedriveMark(partition: partition, offset: offset)
            return try await kafka.answer(to: request) { try await backend.deadLetter(at: position) }
        }

        router.post("/api/dead-letters/judge") { request, _ in
            let choice = try RedriveChoice(json: try await request.bytes(upTo: Self.mostBytes))
            guard let (position, value) = choice.onlyEdited else {
                throw ConsoleError(.invalid, "one letter with a value is judged at a time", member: "letters")
            }
            let fault = try await kafka.run { try await backend.judge(value, ofLetterAt: position) }
            return JSONAnswer.response(Self.fault(fault))
        }

        router.post("/api/dead-letters/redrive") { request, _ in
            let choice = try RedriveChoice(json: try await request.bytes(upTo: Self.mostBytes))
            guard !choice.version.isEmpty else {
                throw ConsoleError(.invalid, "confirm is missing: list the dead letters first", member: "confirm")
            }
            let (id, report) = try await kafka.run { try await backend.redrive(choice) }
            return JSONAnswer.response(Self.report(report, id: id))
        }

        router.get("/api/dead-letters/redrives/:id") { _, context in
            guard let id = context.parameter("id", as: Int.self), let report = backend.redriveReport(id)
            else { throw ConsoleError(.notFound, "what became of this redrive is not kept any more") }
            return JSONAnswer.response(Self.report(report, id: id))
        }
    }

    /// Returns the fault of an edited value; an empty object if there is none.
    private static func fault(_ error: SearchError?) -> [UInt8] {
        JSONWriter.object(capacity: 256) { json in
            if let error {
                json.object("fault") { json in
                    json.member("message", error.message)
                    json.member("member", error.member)
                }
            }
        }
    }

    private static func report(_ report: RedriveReport, id: Int) -> [UInt8] {
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
