import EventContract

/// The outcomes of the demo's requests, as they are shown.
struct DemoTable {
    private var table = TextTable([
        .init(title: "asked", maxWidth: 34), .init(title: "provider"), .init(title: "outcome", maxWidth: 52),
        .init(title: "ms", alignment: .right), .init(title: "calls", alignment: .right),
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
