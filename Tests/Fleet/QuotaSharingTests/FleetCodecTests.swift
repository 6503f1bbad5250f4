import Basics
import Testing

@testable import QuotaSharing

/// The bytes of the fleet topic's messages. Workers of other versions read them, so a change here changes the protocol.
struct FleetCodecTests {
    private static let codec = FleetCodec(fleet: "f")

    private static var leases: LeaseMessage {
        var message = LeaseMessage(sender: "6F3C-0", number: 7, owned: 4, partitionCount: 12)
        message.limits["hotpepper"] = LeaseMessage.Limit(
            demand: LimitDemand(0.5),
            grants: [
                LeaseMessage.Grant(lessee: "b", inReplyTo: 3, share: 0.25),
                LeaseMessage.Grant(lessee: "a", inReplyTo: 12_345_678_901, share: 0),
            ], acknowledged: ["d": 9, "c": 10, "C": 1], returned: ["e": 2])
        message.limits["google-places"] = LeaseMessage.Limit(demand: LimitDemand(1))
        return message
    }

    /// Shares of all possible magnitudes.
    private static var shares: LeaseMessage {
        let shares = [1.0 / 3, 0.1 + 0.2, 0.0001, 0.000_015, 1e-6, .leastNonzeroMagnitude, 0.123_456_789_012_345_67]
        var message = LeaseMessage(sender: "a", number: 1, owned: 0, partitionCount: 0)
        message.limits["k"] = LeaseMessage.Limit(
            demand: .none, grants: shares.map { LeaseMessage.Grant(lessee: "b", inReplyTo: 0, share: $0) })
        return message
    }

    /// Demand by class and tenants.
    private static var classes: LeaseMessage {
        var message = LeaseMessage(sender: "a", number: 1, owned: 4, partitionCount: 12)
        message.limits["k"] = LeaseMessage.Limit(
            demand: LimitDemand(1, interactive: 0.25, interactiveTenants: 9, batchTenants: 2))
        message.limits["l"] = LeaseMessage.Limit(demand: LimitDemand(0.5, interactive: 0))
        return message
    }

    /// Members in the arbitrary order of a dictionary, with names that need escapes.
    private static var names: LeaseMessage {
        var message = LeaseMessage(
            sender: "\"a\\\u{8}\t\n\u{c}\r\u{1}\u{1f}\u{7f}/é\u{2028}😀", number: 1, owned: 1, partitionCount: 2)
        for name in ["b", "B", "a10", "a2", "é", "~", "", "a/b", "a", "a-b", "a\"b"] {
            message.limits[name] = LeaseMessage.Limit(demand: .none)
        }
        return message
    }

    private static var entries: BudgetMessage {
        BudgetMessage(
            sender: "6F3C-0", number: 8,
            entries: [
                BudgetMessage.Entry(
                    "hotpepper", period: "2026-11-23", limit: 5000, take: 20, giveBack: 3,
                    made: ["search": 4, "details": 1]),
                BudgetMessage.Entry("google-places", period: "2026-11-23", limit: 0),
            ])
    }

    private static var state: BudgetMessage {
        var ledger = BudgetLedger()
        ledger.apply(entries, at: 5)
        ledger.apply(order, at: 7)
        return BudgetMessage(
            sender: "a", number: 9, snapshot: BudgetMessage.Snapshot(offset: 7, ledger: ledger))
    }

    private static var order: BudgetMessage {
        BudgetMessage(
            sender: "locsearch budget 1", number: 1,
            order: BudgetMessage.Order(
                "hotpepper", period: "2026-11-23", limit: 900, isReset: true, time: "2026-11-23T12:00:00Z"))
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
            {"fleet":"f","shares":{"limits":{"google-places":{"demand":{"interactive":1,"total":1}},\#
            "hotpepper":{"acknowledged":{"C":1,"c":10,"d":9},"demand":{"interactive":0.5,"total":0.5},"grants":[{"inReplyTo":3,\#
            "lessee":"b","share":0.25},{"inReplyTo":12345678901,"lessee":"a","share":0}],\#
            "returned":{"e":2}}},"number":7,"of":12,"owned":4,"sender":"6F3C-0"}}
            """#
        ),
        (
            .shares(shares),
            #"""
            {"fleet":"f","shares":{"limits":{"k":{"demand":{},"grants":[{"inReplyTo":0,"lessee":"b","share":0.3333333333333333},\#
            {"inReplyTo":0,"lessee":"b","share":0.30000000000000004},{"inReplyTo":0,"lessee":"b","share":0.0001},\#
            {"inReplyTo":0,"lessee":"b","share":1.5e-05},{"inReplyTo":0,"lessee":"b","share":1e-06},{"inReplyTo":0,\#
            "lessee":"b","share":5e-324},{"inReplyTo":0,"lessee":"b","share":0.12345678901234566}]}},"number":1,\#
            "of":0,"owned":0,"sender":"a"}}
            """#
        ),
        (
            .shares(classes),
            #"""
            {"fleet":"f","shares":{"limits":{"k":{"demand":{"batchTenants":2,"interactive":0.25,"interactiveTenants":9,"total":1}},\#
            "l":{"demand":{"total":0.5}}},"number":1,"of":12,"owned":4,"sender":"a"}}
            """#
        ),
        (
            .shares(names),
            #"""
            {"fleet":"f","shares":{"limits":{"":{"demand":{}},"B":{"demand":{}},"a":{"demand":{}},"a\"b":{"demand":{}},"a-b":{"demand":{}},\#
            "a/b":{"demand":{}},"a10":{"demand":{}},"a2":{"demand":{}},"b":{"demand":{}},"~":{"demand":{}},"é":{"demand":{}}},\#
            "number":1,"of":2,"owned":1,"sender":"\"a\\\b\t\n\f\r\u0001\u001f\#u{7f}/é\#u{2028}😀"}}
            """#
        ),
        (
            .shares(LeaseMessage(sender: "a", number: 8, owned: 0, partitionCount: 12, isLast: true)),
            #"{"fleet":"f","shares":{"last":true,"number":8,"of":12,"owned":0,"sender":"a"}}"#
        ),
        (
            .budget(entries),
            #"""
            {"fleet":"f","budget":{"entries":[{"account":"hotpepper","period":"2026-11-23","giveBack":3,"limit":5000,\#
            "made":{"details":1,"search":4},"take":20,"warning":80},{"account":"google-places","period":"2026-11-23","giveBack":0,\#
            "limit":0,"made":{},"take":0,"warning":80}],"number":8,"sender":"6F3C-0"}}
            """#
        ),
        (
            .budget(state),
            #"""
            {"fleet":"f","budget":{"entries":[],"number":9,"sender":"a","state":{"ledger":{"cleaned":0,\#
            "periods":{"google-places":{"2026-11-23":{"isWarned":false,"limit":0,"made":{},"taken":0,"touched":5,"warning":80}},\#
            "hotpepper":{"2026-11-23":{"isWarned":false,"limit":5000,"made":{},"ordered":900,\#
            "since":"2026-11-23T12:00:00Z","taken":15,"touched":7,"warning":80}}},"heard":{"6F3C-0":{"number":8,"offset":5},\#
            "locsearch budget 1":{"number":1,"offset":7}}},"offset":7}}}
            """#
        ),
        (
            .budget(
                BudgetMessage(
                    sender: "a", number: 10, snapshot: BudgetMessage.Snapshot(offset: -1, ledger: BudgetLedger()))),
            #"""
            {"fleet":"f","budget":{"entries":[],"number":10,"sender":"a","state":{"ledger":{"cleaned":0,"periods":{},\#
            "heard":{}},"offset":-1}}}
            """#
        ),
        (
            .budget(order),
            #"""
            {"fleet":"f","budget":{"entries":[],"number":1,"order":{"account":"hotpepper","period":"2026-11-23",\#
            "isReset":true,"limit":900,"time":"2026-11-23T12:00:00Z"},"sender":"locsearch budget 1"}}
            """#
        ),
        (
            .budget(
                BudgetMessage(
                    sender: "a", number: 1, order: BudgetMessage.Order("hotpepper", period: "d", time: "t"))),
            #"""
            {"fleet":"f","budget":{"entries":[],"number":1,"order":{"account":"hotpepper","period":"d","isReset":false,"time":"t"},\#
            "sender":"a"}}
            """#
        ),
        (
            .budget(BudgetMessage(sender: "a", number: 1, question: "hotpepper")),
            #"{"fleet":"f","budget":{"entries":[],"number":1,"question":"hotpepper","sender":"a"}}"#
        ),
        (
            .budget(BudgetMessage(sender: "a", number: 2, answers: "locsearch budget 1")),
            #"{"fleet":"f","budget":{"answers":"locsearch budget 1","entries":[],"number":2,"sender":"a"}}"#
        ),
        (
            .control(ControlMessage(sender: "s", order: rateOrder)),
            #"""
            {"fleet":"f","control":{"order":{"at":1764080000000,"by":"mori@ops","control":"rate","isForced":true,\#
            "instance":"5b9c","number":12.5,"provider":"hotpepper","until":1764090000000,"worker":"web-1"},"sender":"s"}}
            """#
        ),
        (
            .control(ControlMessage(sender: "s", question: ControlMessage.Question(order: pauseOrder))),
            #"""
            {"fleet":"f","control":{"question":{"order":{"at":7,"by":"mori@ops","control":"pause-intake"}},"sender":"s"}}
            """#
        ),
        (
            .control(
                ControlMessage(
                    sender: "5b9c", answer: ControlMessage.Answer(to: "s", worker: "web-1", refusal: "no"))),
            #"{"fleet":"f","control":{"answer":{"refusal":"no","to":"s","worker":"web-1"},"sender":"5b9c"}}"#
        ),
        (
            .control(
                ControlMessage(
                    sender: "5b9c", snapshot: ControlMessage.Snapshot(offset: 9, orders: [pauseOrder]))),
            #"""
            {"fleet":"f","control":{"sender":"5b9c",\#
            "state":{"offset":9,"orders":[{"at":7,"by":"mori@ops","control":"pause-intake"}]}}}
            """#
        ),
    ]

    @Test(arguments: messages) func `A message has these bytes`(message: FleetMessage, text: String) {
        #expect(String(decoding: Self.codec.bytes(of: message), as: UTF8.self) == text)
    }

    @Test(arguments: messages) func `A message is read as it was written`(message: FleetMessage, text: String) {
        #expect(Self.codec.message(Array(text.utf8)) == message)
    }

    @Test(arguments: messages) func `A message of another fleet is ignored`(message: FleetMessage, text: String) {
        #expect(FleetCodec(fleet: "g").message(Array(text.utf8)) == nil)
    }
}
