package import EventContract
package import JSON
package import LocationSearch

/// Writes the history of requests in the form for the page and `locsearch explain --json`. Unknown values are left out.
package enum RequestLifeJSON {
    /// - Parameter link: makes the links to traces, if configured.
    package static func text(of lives: RequestLives, link: TraceLink?) -> [UInt8] {
        JSONWriter.object(capacity: 8192) { json in
            json.member("id", lives.id)
            json.objects("requests", of: lives.lives) { life, json in
                write(life, link: link, to: &json)
            }
            json.objects("readings", of: lives.readings) { reading, json in
                json.member("topic", reading.topic)
                json.member("since", reading.since?.description)
                json.member("newest", reading.newest)
                json.member("heldFrom", reading.held.map { Int($0.lowerBound) })
                json.member("heldTo", reading.held.map { Int($0.upperBound) })
                json.member("records", reading.records)
                json.member("isCut", reading.isCut)
                json.member("problem", reading.problem)
            }
        }
    }

    private static func write(_ life: RequestLife, link: TraceLink?, to json: inout JSONWriter) {
        let event = life.outcome?.event
        json.member("requestId", life.requestID)
        json.member("operation", life.request?.operation ?? event?.operation)
        json.member("sessionId", life.request?.sessionID ?? event?.sessionID)
        json.member("traceId", life.traceID)
        json.member("traceURL", life.traceID.flatMap { link?.url(of: $0) })
        json.member("source", of: life.source)
        write(life.state, to: &json)

        if let request = life.request { json.object("record") { json in write(request, to: &json) } }
        if let phases = RequestPhases(life) { write(phases, to: &json) }
        json.objects("outcomes", of: life.outcomes) { outcome, json in
            write(outcome, to: &json)
        }
        if let letter = life.letter { json.object("deadLetter") { json in write(letter, to: &json) } }
        if !life.charges.isEmpty { json.objects("charges", of: life.charges) { $1.members(of: $0) } }
    }

    private static func write(_ state: RequestLife.State, to json: inout JSONWriter) {
        switch state {
        case .answered: json.member("state", "answered")
        case .waiting(let before):
            json.member("state", "waiting")
            json.member("before", Int(before))
        case .finished: json.member("state", "finished")
        case .unknown(let problem):
            json.member("state", "unknown")
            json.member("problem", problem)
        }
    }

    private static func write(_ request: RequestLife.Request, to json: inout JSONWriter) {
        json.member("time", request.time?.description)
        json.member("bytes", request.value?.count ?? 0)
        json.member("producer", request.producer)
        json.member("expiry", request.expiry?.description)
        json.member("fault", request.fault)
        json.members(ofKey: request.key, headers: request.headers, value: request.value)
    }

    private static func write(_ phases: RequestPhases, to json: inout JSONWriter) {
        json.member("totalMs", phases.total.milliseconds(roundedUp: false))
        json.member("areStepsKnown", phases.areStepsKnown)
        json.member("areStepsCut", phases.areCut)
        json.objects("phases", of: phases.all) { phase, json in
            json.member("kind", phase.kind.rawValue)
            json.member("provider", phase.provider)
            json.member("startMs", phase.start.milliseconds(roundedUp: false))
            json.member("durationMs", phase.duration.milliseconds(roundedUp: false))
            json.member("code", phase.code)
            json.member("httpStatus", phase.httpStatus)
        }
    }

    private static func write(_ outcome: RequestLife.Outcome, to json: inout JSONWriter) {
        let event = outcome.event
        json.members(of: outcome.position)
        json.member("time", outcome.time?.description)
        json.member("bytes", outcome.byteCount)
        json.member("provider", event.provider)
        json.member("triedProviders", event.triedProviders)
        json.member("receivedAt", event.receivedAt?.description)
        json.member("completedAt", event.completedAt?.description)
        json.member("upstreamMs", event.upstream?.milliseconds(roundedUp: false))
        json.member("attempts", event.attempts)

        switch event.body {
        case .completed(let result):
            json.member("code", "ok")
            if event.operation == "search" { json.member("places", result.places.count) }
        case .failed(let failure):
            json.member("code", failure.code)
            json.member("message", failure.message)
            json.member("member", failure.member)
            json.member("httpStatus", failure.httpStatus)
            json.member("providerStatus", failure.providerStatus)
            json.member("limit", failure.limit)
            json.member("retryable", failure.isRetryable)
            json.member("retryAfterMs", failure.retryAfter?.milliseconds(roundedUp: true))
        }
    }

    private static func write(_ letter: RequestLife.Letter, to json: inout JSONWriter) {
        json.members(of: letter.position)
        json.member("reason", letter.reason)
        json.member("message", letter.message)
        json.member("member", letter.member)
        json.member("time", letter.time?.description)
        json.member("isRedriven", letter.isRedriven)
        json.member("redrivenAt", letter.redrivenAt?.description)
    }
}

extension JSONWriter {
    /// Writes the cost of an SKU's calls, in millionths of the currency.
    package mutating func members(of cost: PriceList.Cost) {
        member("sku", cost.priceClass.rawValue)
        member("calls", cost.calls)
        member("freeCalls", cost.freeCalls)
        member("costMicros", cost.amount)
        member("currency", cost.currency)
    }

    /// Writes the members `key`, `headers` and `value` of a record. Bytes that are not text are written in Base64, under another name.
    package mutating func members(ofKey key: [UInt8]?, headers: [RecordHeader], value: [UInt8]?) {
        bytes("key", key)
        objects("headers", of: headers) { header, json in
            json.member("name", header.name)
            json.bytes("value", header.value)
        }
        bytes("value", value)
    }

    private mutating func bytes(_ name: String, _ bytes: [UInt8]?) {
        guard let bytes else { return }
        if let text = String(validating: bytes, as: UTF8.self) {
            key(name)
            value(text)
        } else {
            key(name + "Base64")
            value(Base64.encode(bytes))
        }
    }
}

/// Links to traces in a tracing system's web interface, such as Jaeger's.
package struct TraceLink: Sendable, Hashable {
    private static let placeholder = "{traceId}"

    private let template: String

    /// - Parameter template: an http or https URL with `{traceId}`, without a user or a password.
    /// - Returns: `nil` for any other text.
    package init?(_ template: String) {
        let isWeb = template.hasPrefix("https://") || template.hasPrefix("http://")
        let isPlain = template.allSatisfy { $0.isASCII && !$0.isWhitespace && !"\"'<>\\".contains($0) }
        let host = template.drop { $0 != "/" }.drop { $0 == "/" }.prefix { !"/?#".contains($0) }
        guard isWeb, isPlain, !host.isEmpty, !host.contains("@"), !host.contains("{"),
            template.contains(Self.placeholder)
        else { return nil }
        self.template = template
    }

    /// Returns the URL of a trace.
    /// - Parameter traceID: 32 hexadecimal digits, as in `TraceContext`.
    package func url(of traceID: String) -> String {
        template.replacing(Self.placeholder, with: traceID)
    }
}
