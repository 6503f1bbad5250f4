import EventContract
import Kafka
import LocationSearch

enum OutcomeText {
    /// Returns a headline and, for a search, a table of its places.
    static func full(_ event: OutcomeEvent, asked request: SearchRequest) -> String {
        switch event.body {
        case .failed(let failure): return "\(TerminalText.safe(failure.code)): \(reason(failure))"
        case .completed(let result):
            var lines = ["\(headline(event, result: result)), \(effort(event))"]
            if !result.places.isEmpty { lines += [""] + places(result.places) }
            let detailed = event.operation == "details" ? result.places.first : nil
            lines += (detailed?.business.openingHours ?? []).map { TerminalText.safe($0) }
            if let url = result.photoURL { lines.append(TerminalText.safe(url)) }
            if !result.attributions.isEmpty { lines += [""] + result.attributions.map { TerminalText.safe($0) } }
            if let token = result.nextPageToken {
                lines += ["", "More: the same command with --page-token '\(TerminalText.safe(token))'"]
            }
            return lines.joined(separator: "\n")
        }
    }

    /// Returns a short summary of the outcome.
    static func summary(_ event: OutcomeEvent) -> String {
        switch event.body {
        case .failed(let failure): failure.code + (failure.member.map { " (\(TerminalText.safe($0)))" } ?? "")
        case .completed(let result):
            if result.photoURL != nil {
                "a picture"
            } else if let only = result.places.first, event.operation == "details" {
                only.name
            } else {
                count(result) + (result.places.first.map { ": " + $0.name } ?? "")
            }
        }
    }

    /// The time from reading the request to its outcome, in whole milliseconds.
    static func milliseconds(_ event: OutcomeEvent) -> String {
        guard let received = event.receivedAt, let completed = event.completedAt else { return "" }
        return "\(completed.duration(since: received).milliseconds(roundedUp: false))"
    }

    /// Formats a number with `places` decimals, at most 3. An outcome may contain any number: from 10^12 on, Swift's
    /// notation is used, such as `1e+300`.
    static func decimal(_ number: Double, places: Int) -> String {
        guard number.magnitude < 1e12 else { return "\(number)" }

        let scale: UInt = [1, 10, 100, 1000][min(max(places, 0), 3)]
        let scaled = Int(saturating: (number * Double(scale)).rounded())
        let (whole, fraction) = scaled.magnitude.quotientAndRemainder(dividingBy: scale)
        let sign = scaled < 0 ? "-" : ""
        guard scale > 1 else { return "\(sign)\(whole)" }

        // The leading 1 preserves the zeros after the decimal point.
        return "\(sign)\(whole).\(String(scale + fraction).dropFirst())"
    }

    private static func headline(_ event: OutcomeEvent, result: SearchOutcome.Result) -> String {
        let provider = TerminalText.safe(event.provider ?? "?")
        guard let search = result.search else {
            return "\(provider): \(TerminalText.safe(event.operation ?? "an outcome"))"
        }
        let (latitude, longitude) = (search.location.latitude, search.location.longitude)
        let categories = search.categories.isEmpty ? search.category : search.categories.joined(separator: ", ")
        return "\(provider): \(count(result)) (\(TerminalText.safe(categories))) within "
            + "\(decimal(search.radiusMeters, places: 0)) m of \(latitude), \(longitude)"
    }

    private static func count(_ result: SearchOutcome.Result) -> String {
        let count = result.places.count
        let places = count == 1 ? "1 place" : "\(count) places"
        guard let total = result.totalAvailable, total > count else { return count == 0 ? "nothing found" : places }
        return "\(count) of \(total) places"
    }

    private static func effort(_ event: OutcomeEvent) -> String {
        let attempts = event.attempts ?? 0
        let spent = event.upstream.map { "\(decimal($0 / .milliseconds(1), places: 0)) ms upstream" } ?? ""
        return "\(spent), \(attempts == 1 ? "1 attempt" : "\(attempts) attempts")"
    }

    /// The error message, with the details of its cause.
    static func reason(_ failure: OutcomeEvent.Failure) -> String {
        TerminalText.safe(failure.message) + hints(failure)
    }

    private static func hints(_ failure: OutcomeEvent.Failure) -> String {
        var hints: [String] = []
        if let status = failure.httpStatus { hints.append("HTTP \(status)") }
        if let status = failure.providerStatus { hints.append(TerminalText.safe(status)) }
        if let limit = failure.limit { hints.append("limit: \(TerminalText.safe(limit))") }
        if failure.isRetryable {
            hints.append("retry possible" + (failure.retryAfter.map { " in \($0.readable)" } ?? ""))
        }
        return hints.isEmpty ? "" : " [\(hints.joined(separator: ", "))]"
    }

    private static func places(_ places: Places) -> [String] {
        var table = TextTable([
            .left("name", maxWidth: 40), .left("category", maxWidth: 24), .right("metres"), .right("rating"), "open",
            .left("address", maxWidth: 44), .left("id", maxWidth: 32),
        ])
        for place in places {
            table.add([
                place.name, place.category ?? "", place.distanceMeters.map { decimal($0, places: 0) } ?? "",
                place.rating.map { decimal($0, places: 1) } ?? "", place.openNow.map { $0 ? "yes" : "no" } ?? "",
                place.address ?? "", place.id,
            ])
        }
        return table.lines
    }
}

/// Formats an outcome as one line of `watch`, with aligned columns.
enum OutcomeLine {
    static func text(_ outcome: ReceivedOutcome) -> String {
        let place = "\(outcome.record.partition.id)@\(outcome.record.offset)"
        guard let event = outcome.event else { return "(no outcome event) \(place)" }

        let time = event.completedAt.map { String($0.description.dropFirst(11).prefix(12)) }
        let key = outcome.record.key.map { String(decoding: $0, as: UTF8.self) }
        let columns: [(text: String?, width: Int)] = [
            (time, 12), (event.provider, 20), (event.operation, 7), (OutcomeText.milliseconds(event) + " ms", 8),
            (OutcomeText.summary(event), 44), (key, 20), (event.sessionID, 16),
        ]

        let cells = columns.map { cell($0.text ?? "-", width: $0.width) }
        let line = cells.joined() + TerminalText.cut(TerminalText.safe(event.requestID), to: 48)
        guard case .failed(let failure) = event.body else { return line }
        return "\(line)  \(OutcomeText.reason(failure))"
    }

    /// Cuts or pads a text to its column's width, followed by two spaces.
    private static func cell(_ text: String, width: Int) -> String {
        let text = TerminalText.cut(TerminalText.safe(text), to: width)
        return text + String(repeating: " ", count: max(0, width - TerminalText.width(of: text)) + 2)
    }
}
