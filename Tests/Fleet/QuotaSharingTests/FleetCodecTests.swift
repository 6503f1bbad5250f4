import Testing

@testable import QuotaSharing

/// The bytes of the fleet topic's messages. Workers of other versions read them, so a change here changes the protocol.
struct FleetCodecTests {
    private static let scope = QuotaScope(provider: "hotpepper", fleet: "3f9a", key: "b81d")

    private static var leases: LeaseMessage {
        var message = LeaseMessage(sender: "6F3C-0", number: 7, owned: 4, partitionCount: 12)
        message.limits["hotpepper/3f9a/b81d"] = LeaseMessage.Limit(
            demand: 0.5,
            grants: [
                LeaseMessage.Grant(lessee: "b", inReplyTo: 3, share: 0.25),
                LeaseMessage.Grant(lessee: "a", inReplyTo: 12_345_678_901, share: 0),
            ], acknowledged: ["d": 9, "c": 10, "C": 1], returned: ["e": 2])
        message.limits["google-places"] = LeaseMessage.Limit(demand: 1)
        return message
    }

    /// Shares of all possible magnitudes.
    private static var shares: LeaseMessage {
        let shares = [1.0 / 3, 0.1 + 0.2, 0.0001, 0.000_015, 1e-6, .leastNonzeroMagnitude, 0.123_456_789_012_345_67]
        var message = LeaseMessage(sender: "a", number: 1, owned: 0, partitionCount: 0)
        message.limits["k"] = LeaseMessage.Limit(
            demand: 0, grants: shares.map { LeaseMessage.Grant(lessee: "b", inReplyTo: 0, share: $0) })
        return message
    }

    /// Demand by class and tenants.
    private static var classes: LeaseMessage {
        var message = LeaseMessage(sender: "a", number: 1, owned: 4, partitionCount: 12)
        message.limits["k"] = LeaseMessage.Limit(demand: 1, interactive: 0.25, tenants: 9, batchTenants: 2)
        message.limits["l"] = LeaseMessage.Limit(demand: 0.5, interactive: 0)
        return message
    }

    /// Members in the arbitrary order of a dictionary, with names that need escapes.
    private static var names: LeaseMessage {
        var message = LeaseMessage(
            sender: "\"a\\\u{8}\t\n\u{c}\r\u{1}\u{1f}\u{7f}/é\u{2028}😀", number: 1, owned: 1, partitionCount: 2)
        for name in ["b", "B", "a10", "a2", "é", "~", "", "a/b", "a", "a-b", "a\"b"] {
            message.limits[name] = LeaseMessage.Limit(demand: 0)
        }
        return message
    }

    private static var entries: BudgetMessage {
        BudgetMessage(
            sender: "6F3C-0", number: 8,
            entries: [
                BudgetMessage.Entry(
                    scope, day: "2026-11-23", limit: 5000, take: 20, giveBack: 3, made: ["search": 4, "details": 1]),
                BudgetMessage.Entry(QuotaScope(provider: "google-places"), day: "2026-11-23", limit: 0),
            ],
            renewals: [
                BudgetMessage.Renewal(provider: "hotpepper", fleet: "3f9a", old: "b81d", new: "c92e"),
                BudgetMessage.Renewal(provider: "hotpepper", fleet: nil, old: "1", new: "2"),
            ])
    }

    private static var state: BudgetMessage {
        var ledger = BudgetLedger()
        ledger.apply(entries, at: 5)
        ledger.apply(order, at: 7)
        return BudgetMessage(
            sender: "a", number: 9, snapshot: BudgetMessage.Snapshot(offset: 7, fleet: "3f9a", ledger: ledger))
    }

    private static var order: BudgetMessage {
        BudgetMessage(
            sender: "locsearch budget 1", number: 1,
            order: BudgetMessage.Order(
                provider: "hotpepper", fleet: "3f9a", day: "2026-11-23", limit: 900, isReset: true,
                time: "2026-11-23T12:00:00Z"))
    }

    private static var rateOrder: ControlOrder {
        var order = ControlOrder(
            .rate, provider: "hotpepper", number: 12.5, until: 1_764_090_000_000, by: "mori@ops", at: 1_764_080_000_000)
        (order.instance, order.worker, order.isForced) = ("5b9c", "web-1", true)
        return order
    }

    private static var pauseOrder: ControlOrder { ControlOrder(.pauseIntake, by: "mori@ops", at: 7) }

    static let messages: [(FleetMessage, String)] = [
        (
            .shares(leases),
            #"""
            {"shares":{"limits":{"google-places":{"demand":1},"hotpepper/3f9a/b81d":{"acknowledged":{"C":1,"c":10,"d":9},\#
            "demand":0.5,"grants":[{"inReplyTo":3,\#
            "lessee":"b","share":0.25},{"inReplyTo":12345678901,"lessee":"a","share":0}],\#
            "returned":{"e":2}}},"number":7,"of":12,"owned":4,"sender":"6F3C-0"}}
            """#
        ),
        (
            .shares(shares),
            #"""
            {"shares":{"limits":{"k":{"demand":0,"grants":[{"inReplyTo":0,"lessee":"b","share":0.3333333333333333},\#
            {"inReplyTo":0,"lessee":"b","share":0.30000000000000004},{"inReplyTo":0,"lessee":"b","share":0.0001},\#
            {"inReplyTo":0,"lessee":"b","share":1.5e-05},{"inReplyTo":0,"lessee":"b","share":1e-06},{"inReplyTo":0,\#
            "lessee":"b","share":5e-324},{"inReplyTo":0,"lessee":"b","share":0.12345678901234566}]}},"number":1,\#
            "of":0,"owned":0,"sender":"a"}}
            """#
        ),
        (
            .shares(classes),
            #"""
            {"shares":{"limits":{"k":{"batchTenants":2,"demand":1,"interactive":0.25,"tenants":9},\#
            "l":{"demand":0.5,"interactive":0}},"number":1,"of":12,"owned":4,"sender":"a"}}
            """#
        ),
        (
            .shares(names),
            #"""
            {"shares":{"limits":{"":{"demand":0},"B":{"demand":0},"a":{"demand":0},"a\"b":{"demand":0},"a-b":{"demand":0},\#
            "a/b":{"demand":0},"a10":{"demand":0},"a2":{"demand":0},"b":{"demand":0},"~":{"demand":0},"é":{"demand":0}},\#
            "number":1,"of":2,"owned":1,"sender":"\"a\\\b\t\n\f\r\u0001\u001f\#u{7f}/é\#u{2028}😀"}}
            """#
        ),
        (
            .shares(LeaseMessage(sender: "a", number: 8, owned: 0, partitionCount: 12, isLast: true)),
            #"{"shares":{"last":true,"number":8,"of":12,"owned":0,"sender":"a"}}"#
        ),
        (
            .budget(entries),
            #"""
            {"budget":{"entries":[{"day":"2026-11-23","fleet":"3f9a","giveBack":3,"key":"b81d","limit":5000,\#
            "made":{"details":1,"search":4},"provider":"hotpepper","take":20},{"day":"2026-11-23","giveBack":0,\#
            "limit":0,"made":{},"provider":"google-places","take":0}],"number":8,"renewals":[{"fleet":"3f9a",\#
            "new":"c92e","old":"b81d","provider":"hotpepper"},{"new":"2","old":"1","provider":"hotpepper"}],\#
            "sender":"6F3C-0"}}
            """#
        ),
        (
            .budget(state),
            #"""
            {"budget":{"entries":[],"number":9,"sender":"a","state":{"fleet":"3f9a","ledger":{"cleaned":0,\#
            "days":{"google-places":{"2026-11-23":{"isWarned":false,"limit":0,"made":{},"taken":0,"touched":5}},\#
            "hotpepper/3f9a":{"2026-11-23":{"isWarned":false,"limit":900,"made":{},"ordered":900,\#
            "since":"2026-11-23T12:00:00Z","taken":0,"touched":7}},\#
            "hotpepper/3f9a/b81d":{"2026-11-23":{"isWarned":false,"limit":5000,"made":{},"ordered":900,\#
            "since":"2026-11-23T12:00:00Z","taken":15,"touched":7}}},"heard":{"6F3C-0":{"number":8,"offset":5},\#
            "locsearch budget 1":{"number":1,"offset":7}},\#
            "renewed":{"hotpepper/3f9a/c92e":"hotpepper/3f9a/b81d"},\#
            "renewedAt":{"hotpepper/3f9a/c92e":5}},"offset":7}}}
            """#
        ),
        (
            .budget(
                BudgetMessage(
                    sender: "a", number: 10, snapshot: BudgetMessage.Snapshot(offset: -1, ledger: BudgetLedger()))),
            #"""
            {"budget":{"entries":[],"number":10,"sender":"a","state":{"ledger":{"cleaned":0,"days":{},\#
            "heard":{},"renewed":{}},"offset":-1}}}
            """#
        ),
        (
            .budget(order),
            #"""
            {"budget":{"entries":[],"number":1,"order":{"day":"2026-11-23","fleet":"3f9a","isReset":true,\#
            "limit":900,"provider":"hotpepper","time":"2026-11-23T12:00:00Z"},"sender":"locsearch budget 1"}}
            """#
        ),
        (
            .budget(
                BudgetMessage(
                    sender: "a", number: 1, order: BudgetMessage.Order(provider: "p", day: "d", limit: nil, time: "t"))),
            #"""
            {"budget":{"entries":[],"number":1,"order":{"day":"d","isReset":false,"provider":"p","time":"t"},\#
            "sender":"a"}}
            """#
        ),
        (
            .budget(
                BudgetMessage(
                    sender: "a", number: 1, question: BudgetMessage.Question(provider: "hotpepper", fleet: "3f9a"))),
            #"{"budget":{"entries":[],"number":1,"question":{"fleet":"3f9a","provider":"hotpepper"},"sender":"a"}}"#
        ),
        (
            .budget(BudgetMessage(sender: "a", number: 2, answers: "locsearch budget 1")),
            #"{"budget":{"answers":"locsearch budget 1","entries":[],"number":2,"sender":"a"}}"#
        ),
        (
            .control(ControlMessage(sender: "s", fleet: "f", order: rateOrder)),
            #"""
            {"control":{"fleet":"f","order":{"at":1764080000000,"by":"mori@ops","control":"rate","isForced":true,\#
            "instance":"5b9c","number":12.5,"provider":"hotpepper","until":1764090000000,"worker":"web-1"},"sender":"s"}}
            """#
        ),
        (
            .control(ControlMessage(sender: "s", fleet: "f", question: ControlMessage.Question(order: pauseOrder))),
            #"""
            {"control":{"fleet":"f","question":{"order":{"at":7,"by":"mori@ops","control":"pause-intake"}},"sender":"s"}}
            """#
        ),
        (
            .control(
                ControlMessage(
                    sender: "5b9c", fleet: "f", answer: ControlMessage.Answer(to: "s", worker: "web-1", refusal: "no"))),
            #"{"control":{"answer":{"refusal":"no","to":"s","worker":"web-1"},"fleet":"f","sender":"5b9c"}}"#
        ),
        (
            .control(
                ControlMessage(
                    sender: "5b9c", fleet: "f", snapshot: ControlMessage.Snapshot(offset: 9, orders: [pauseOrder]))),
            #"""
            {"control":{"fleet":"f","sender":"5b9c",\#
            "state":{"offset":9,"orders":[{"at":7,"by":"mori@ops","control":"pause-intake"}]}}}
            """#
        ),
    ]

    @Test(arguments: messages)
    func `A message is written as these bytes and read back`(message: FleetMessage, text: String) {
        #expect(String(decoding: FleetCodec.bytes(of: message), as: UTF8.self) == text)
        #expect(FleetCodec.message(Array(text.utf8)) == message)
    }
}
