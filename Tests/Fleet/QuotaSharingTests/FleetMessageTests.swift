import Basics
import Testing

@testable import QuotaSharing

/// Messages in the fleet topic from other versions of the worker, or from other programs.
struct FleetMessageTests {
    static let unusable = [
        #"{}"#, #"[]"#, #"{"fleet": "f", "news": {}}"#, #"{"fleet": "f", "shares": {"sender": "a"}}"#,
        #"{"fleet": "f", "shares": {"sender": "a", "number": -1, "owned": 1, "of": 2}}"#,
        #"{"fleet": "f", "shares": {"sender": "a", "number": 1, "owned": -1, "of": 2}}"#,
        #"{"fleet": "f", "shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"demand": {"total": 1.5}}}}}"#,
        #"{"fleet": "f", "shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"demand": {"total": -1}}}}}"#,
        """
        {"fleet": "f", "shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"demand": {}, "grants": [
        {"lessee": "b", "inReplyTo": 1, "share": 40}]}}}}
        """,
        #"{"fleet": "f", "shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"demand": {"interactive": 2}}}}}"#,
        #"{"fleet": "f", "shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"demand": {"interactiveTenants": 1.5}}}}}"#,
        #"{"fleet": "f", "shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": []}}"#,
        #"{"fleet": "f", "shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "last": 1}}"#,
        #"{"fleet": "f", "shares": {"sender": "a", "number": 1, "owned": 1, "of": 2}} {}"#,
        #"{"fleet": "f", "shares": {"sender": "a", "number": 1, "owned": 1, "of": 2}"#,
        #"{"fleet": "f", "budget": {"sender": "a", "number": 1}}"#,
        #"{"fleet": "f", "budget": {"sender": "a", "number": 1, "entries": {}}}"#,
        #"{"fleet": "f", "budget": {"sender": "a", "number": 1, "entries": [{"account": "hotpepper", "period": "d"}]}}"#,
        #"{"fleet": "f", "budget": {"sender": "a", "number": 1, "entries": [], "order": {"account": "hotpepper"}}}"#,
        #"{"fleet": "f", "budget": {"sender": "a", "number": 1, "entries": [], "state": {"offset": 1}}}"#,
        #"{"fleet":"f","control":{"order":{"at":1,"by":"b"},"sender":"s"}}"#,
        #"{"control":{"order":{"at":1,"by":"b","control":"rate"},"sender":"s"}}"#,
        #"{"fleet":1,"control":{"order":{"at":1,"by":"b","control":"rate"},"sender":"s"}}"#,
        #"{"fleet":"f","control":{"order":{"at":1,"by":"b","control":"rate","number":-1},"sender":"s"}}"#,
        #"{"fleet":"f","control":{"order":{"at":1,"by":"b","control":"rate","number":1e300},"sender":"s"}}"#,
        #"{"fleet":"f","control":{"order":{"at":1e30,"by":"b","control":"rate"},"sender":"s"}}"#,
    ]

    @Test(arguments: unusable) func `An invalid message is refused`(text: String) {
        #expect(FleetCodec(fleet: "f").message(Array(text.utf8)) == nil)
    }

    static let usable: [(String, FleetMessage)] = [
        (
            """
            { "fleet": "f", "shares" : {"new": [{}], "of": 2.0, "owned": 1, "number": 1, "sender": "a/\\u00e9", "limits": null,
            "last": null}, "other": 1 }
            """,
            .shares(LeaseMessage(sender: "a/é", number: 1, owned: 1, partitionCount: 2))
        ),
        (
            """
            {"fleet": "f", "shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"demand": {"total": 0.5,
            "interactive": 0.75, "interactiveTenants": 4000000000000, "batchTenants": -3, "later": {}}}, "l": {"demand":
            {"total": 1, "interactive": null, "interactiveTenants": null}}}}}
            """,
            .shares(
                LeaseMessage(
                    sender: "a", number: 1, owned: 1, partitionCount: 2,
                    limits: [
                        "k": LeaseMessage.Limit(demand: LimitDemand(0.5, interactiveTenants: 1_000_000)),
                        "l": LeaseMessage.Limit(demand: LimitDemand(1, interactive: 0)),
                    ]))
        ),
        (
            #"{"fleet": "f", "budget": {"sender": "a", "number": 2, "entries": [], "order": null, "state": null, "answers": null}}"#,
            .budget(BudgetMessage(sender: "a", number: 2))
        ),
    ]

    @Test(arguments: usable) func `Unknown and empty members are ignored`(text: String, message: FleetMessage) {
        #expect(FleetCodec(fleet: "f").message(Array(text.utf8)) == message)
    }

    @Test func `A control of a later version is kept`() throws {
        let text =
            #"{"fleet":"f","control":{"order":{"at":1,"by":"b","control":"later","more":[1]},"sender":"s","x":1}}"#
        guard case .control(let message)? = FleetCodec(fleet: "f").message(Array(text.utf8)) else {
            Issue.record("it was not read")
            return
        }
        #expect(message.order?.name == "later")
        #expect(message.order?.control == nil)
    }
}
