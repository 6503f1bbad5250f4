import Console
import EventContract
import LocationSearch

/// Formats the life of a request for a terminal. Records come from unknown producers, so the text contains no control
/// characters.
enum LifeText {
    private static let widthOfBars = 24

    static func lines(of lives: RequestLives, link: TraceLink?, withRecord: Bool) -> [String] {
        guard !lives.lives.isEmpty else { return [] }

        var lines: [String] = []
        for life in lives.lives {
            if !lines.isEmpty { lines.append("") }
            lines += text(of: life, link: link) + (withRecord ? [""] + record(of: life) : [])
        }
        let readings = lives.readings.filter { $0.isCut || $0.problem != nil }
        let notes = readings.map { "\(words(of: $0)) was not read completely" }
        return lines + (notes.isEmpty ? [] : [""] + notes.map(TerminalText.safe))
    }

    // MARK: - One life

    private static func text(of life: RequestLife, link: TraceLink?) -> [String] {
        let lines = [headline(of: life), ""] + members(of: life, link: link)
        guard let phases = RequestPhases(life) else { return lines }
        return lines + [""] + table(of: phases) + notes(on: phases)
    }

    private static func headline(of life: RequestLife) -> String {
        TerminalText.safe("request \(life.requestID): \(state(of: life))")
    }

    private static func state(of life: RequestLife) -> String {
        if let outcome = life.outcome {
            let total = RequestPhases(life).map { " after \($0.total.readable)" } ?? ""
            switch outcome.event.body {
            case .completed:
                let provider = outcome.event.provider.map { " from \($0)" } ?? ""
                return "answered\(total) with \(OutcomeText.summary(outcome.event))\(provider)"
            case .failed(let failure):
                return "failed\(total): \(failure.code): \(OutcomeText.reason(failure))"
            }
        }

        switch life.state {
        case .waiting(let before):
            let place = "partition \(life.source.partition) of \(life.source.topic)"
            return before == 0
                ? "it is the next one in \(place), and may be in flight"
                : "waits in \(place), \(before.counted("record")) before it"
        case .finished:
            return life.letter == nil
                ? """
                workers have finished it, but its outcome was not found: it is older than the records that were read, \
                or the topic has deleted it
                """ : "it became a dead letter, but its error event has been deleted"
        case .unknown(let problem): return "no outcome was found; \(problem)"
        case .answered: return "answered"
        }
    }

    private static func members(of life: RequestLife, link: TraceLink?) -> [String] {
        var members: [(String, String)] = []
        members.append(("received", received(life)))
        if let fault = life.request?.fault { members.append(("fault", fault)) }
        if let expiry = life.request?.expiry { members.append(("expires", expiry.description)) }
        for outcome in life.outcomes {
            members.append((outcome.position == life.outcomes.first?.position ? "outcome" : "again", text(of: outcome)))
        }
        if let event = life.outcome?.event, let attempts = event.attempts {
            let upstream = event.upstream.map { ", \($0.readable) at providers" } ?? ""
            let tried = event.triedProviders.isEmpty ? "" : ": " + event.triedProviders.joined(separator: ", ")
            members.append(("calls", "\(attempts.counted("call"))\(upstream)\(tried)"))
        }
        if !life.charges.isEmpty { members.append(("cost", text(of: life.charges))) }
        if let letter = life.letter { members.append(("dead letter", text(of: letter))) }
        if let session = life.request?.sessionID ?? life.outcome?.event.sessionID {
            members.append(("session", session))
        }
        if let trace = life.traceID { members.append(("trace", trace + (link.map { "  \($0.url(of: trace))" } ?? ""))) }

        let width = (members.map(\.0.count).max() ?? 0) + 2
        return members.map { name, text in
            TerminalText.safe(name + String(repeating: " ", count: max(0, width - name.count)) + text)
        }
    }

    private static func received(_ life: RequestLife) -> String {
        let place = text(of: life.source)
        guard let request = life.request else { return "\(place), which the topic has deleted" }

        let key = request.key.map { "key \(String(decoding: $0.prefix(60), as: UTF8.self))" } ?? "no key"
        let producer = request.producer.map { ", from \($0)" } ?? ""
        let time = request.time.map { "\($0)  " } ?? ""
        return "\(time)\(place), \((request.value?.count ?? 0).counted("byte")), \(key)\(producer)"
    }

    private static func text(of outcome: RequestLife.Outcome) -> String {
        let time = (outcome.time ?? outcome.event.completedAt).map { "\($0)  " } ?? ""
        let kind = if case .completed = outcome.event.body { "result" } else { "error" }
        return
            "\(time)\(text(of: outcome.position)), a\(kind == "error" ? "n" : "") \(kind) of \(outcome.byteCount.counted("byte"))"
    }

    private static func text(of charges: [PriceList.Cost]) -> String {
        let parts = charges.map { cost in
            "\(PriceList.text(cost.amount ?? 0)) \(cost.currency) for \(cost.calls.counted("call")) of \(cost.priceClass.rawValue)"
        }
        return "at most \(parts.joined(separator: ", ")); list price after the free calls, by these settings"
    }

    private static func text(of letter: RequestLife.Letter) -> String {
        let time = letter.time.map { "\($0)  " } ?? ""
        let member = letter.member.map { " (\($0))" } ?? ""
        let redriven =
            letter.isRedriven
            ? "; it went back to the requests topic" + (letter.redrivenAt.map { " at \($0)" } ?? "") : ""
        return "\(time)\(text(of: letter.position)), \(letter.reason)\(member): \(letter.message)\(redriven)"
    }

    private static func text(of position: SourcePosition) -> String {
        "\(position.topic), partition \(position.partition), offset \(position.offset)"
    }

    // MARK: - Time line

    private static func table(of phases: RequestPhases) -> [String] {
        var table = TextTable([
            .right("after"), .right("took"), .left("", maxWidth: widthOfBars), .left("step", maxWidth: 120),
        ])
        for phase in phases.all {
            table.add([
                phase.start.readable, phase.duration.readable, bar(of: phase, in: phases.total), words(of: phase),
            ])
        }
        return table.lines
    }

    /// A bar below the time line, whose width shows the duration of the phase.
    private static func bar(of phase: RequestPhase, in total: Duration) -> String {
        guard total > .zero else { return "" }
        let scale = Double(widthOfBars)
        let start = min(Int(saturating: phase.start / total * scale), widthOfBars - 1)
        let width = max(1, Int(saturating: (phase.duration / total * scale).rounded()))
        let filled = min(width, widthOfBars - start)
        return String(repeating: "·", count: start) + String(repeating: "█", count: filled)
            + String(repeating: "·", count: max(0, widthOfBars - start - filled))
    }

    private static func words(of phase: RequestPhase) -> String {
        let provider = phase.provider ?? ""
        let end = phase.code.map { code in code == "ok" ? "answered" : code } ?? ""
        let status = phase.httpStatus.map { ", HTTP \($0)" } ?? ""
        let tail = end.isEmpty ? "" : ": \(end)\(status)"

        switch phase.kind {
        case .topic: return "waited in the topic"
        case .worker: return "was in the worker"
        case .publish: return "its outcome waited for publication"
        default: break
        }
        return switch RequestStep.Kind(rawValue: phase.kind.rawValue) {
        case .wait: "waited for a limit of \(provider)\(tail)"
        case .refused: "\(provider) was not called\(tail)"
        case .call: "called \(provider)\(tail)"
        case .pause: "paused before the next call to \(provider)\(tail)"
        case .park: "was parked until \(provider) was available\(tail)"
        case .shared: "waited for the call of an identical request to \(provider)\(tail)"
        case nil: "\(phase.kind.rawValue) \(provider)\(tail)"
        }
    }

    private static func notes(on phases: RequestPhases) -> [String] {
        var notes: [String] = []
        if phases.areCut {
            notes.append("There were more steps than an outcome records; some before the last are omitted.")
        }
        if !phases.areStepsKnown {
            notes.append("The outcome has no steps: set worker.requestSteps=true to see them for later requests.")
        }
        return notes.isEmpty ? [] : [""] + notes
    }

    // MARK: - Record

    private static func record(of life: RequestLife) -> [String] {
        guard let request = life.request else { return ["The requests topic has deleted the record."] }

        var lines = ["key     \(DeadLetterText.shown(request.key))"]
        for header in request.headers {
            lines.append("header  \(TerminalText.safe(header.name)): \(DeadLetterText.shown(header.value))")
        }
        return lines + ["value   \(DeadLetterText.shown(request.value))"]
    }

    // MARK: - Not found

    /// Returns where the request was searched for, and what to do next.
    static func notFound(_ lives: RequestLives, since: Duration) -> String {
        let places = lives.readings.map { "  \(words(of: $0))\n" }.joined()
        return TerminalText.safe("\(lives.id) was not found in the records that were read:") + "\n" + places
            + "\(cure(of: lives, since: since)) Ids are case-sensitive. The id of a request is its member"
            + " requestId, otherwise its ce_id."
    }

    private static func cure(of lives: RequestLives, since: Duration) -> String {
        if lives.readings.contains(where: \.isCut) { return "Use a longer --within, or a shorter --since." }
        // The dead-letter topic, which is last, is always read by its newest records.
        if lives.readings.dropLast().contains(where: { $0.newest != nil }) {
            return """
                These brokers cannot look up offsets by time, or have no records of the last \(since.readable): read \
                more records with --newest.
                """
        }
        return "Search further back than \(since.readable) with --since, within the retention of the topics."
    }

    private static func words(of reading: RequestLives.Reading) -> String {
        if let problem = reading.problem { return TerminalText.safe("\(reading.topic): cannot be read: \(problem)") }
        let extent =
            if let since = reading.since {
                "since \(since)"
            } else if let newest = reading.newest {
                "the newest \(newest.grouped) of each partition"
            } else if let held = reading.held {
                "it holds " + (held.isEmpty ? "no record" : "the offsets \(held.lowerBound) to \(held.upperBound - 1)")
                    + " of that partition"
            } else {
                "the record at that position"
            }
        let cut = reading.isCut ? ", until the timeout" : ""
        return TerminalText.safe("\(reading.topic): \(reading.records.counted("record")), \(extent)\(cut)")
    }
}
