import EventContract

/// The table of the demo's requests and outcomes.
struct DemoTable {
    private var table = TextTable([
        .left("asked", maxWidth: 34), "provider", .left("outcome", maxWidth: 52), .right("ms"), .right("calls"),
    ])

    mutating func add(_ asked: DemoRequest, outcome: ReceivedOutcome?) {
        guard let event = outcome?.event else { return table.add([asked.label, "", "no outcome", "", ""]) }
        table.add([
            asked.label, event.provider ?? "", OutcomeText.summary(event), OutcomeText.milliseconds(event),
            event.attempts.map { "\($0)" } ?? "",
        ])
    }

    var lines: [String] { table.lines }
}
