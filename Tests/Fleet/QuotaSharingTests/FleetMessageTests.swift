import Testing

@testable import QuotaSharing

/// Messages in the fleet topic from other versions of the worker, or from other programs.
struct FleetMessageTests {
    static let unusable = [
        #"{}"#, #"[]"#, #"{"news": {}}"#, #"{"shares": {"sender": "a"}}"#,
        #"{"shares": {"sender": "a", "number": -1, "owned": 1, "of": 2}}"#,
        #"{"shares": {"sender": "a", "number": 1, "owned": -1, "of": 2}}"#,
        #"{"shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"demand": 1.5}}}}"#,
        #"{"shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"demand": -1}}}}"#,
        """
        {"shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"demand": 1, "grants": [
        {"lessee": "b", "inReplyTo": 1, "share": 40}]}}}}
        """,
        #"{"shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"demand": 1, "interactive": 2}}}}"#,
        #"{"shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"demand": 1, "tenants": 1.5}}}}"#,
        #"{"shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": []}}"#,
        #"{"shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "last": 1}}"#,
        #"{"shares": {"sender": "a", "number": 1, "owned": 1, "of": 2}} {}"#,
        #"{"shares": {"sender": "a", "number": 1, "owned": 1, "of": 2}"#,
        #"{"budget": {"sender": "a", "number": 1}}"#, #"{"budget": {"sender": "a", "number": 1, "entries": {}}}"#,
        #"{"budget": {"sender": "a", "number": 1, "entries": [{"provider": "p", "day": "d"}]}}"#,
        #"{"budget": {"sender": "a", "number": 1, "entries": [], "order": {"provider": "p"}}}"#,
        #"{"budget": {"sender": "a", "number": 1, "entries": [], "state": {"offset": 1}}}"#,
        #"{"control":{"fleet":"f","order":{"at":1,"by":"b"},"sender":"s"}}"#,
        #"{"control":{"order":{"at":1,"by":"b","control":"rate"},"sender":"s"}}"#,
        #"{"control":{"fleet":"f","order":{"at":1,"by":"b","control":"rate","number":-1},"sender":"s"}}"#,
        #"{"control":{"fleet":"f","order":{"at":1,"by":"b","control":"rate","number":1e300},"sender":"s"}}"#,
        #"{"control":{"fleet":"f","order":{"at":1e30,"by":"b","control":"rate"},"sender":"s"}}"#,
    ]

    @Test(arguments: unusable) func `An invalid message is refused`(text: String) {
        #expect(FleetCodec.message(Array(text.utf8)) == nil)
    }

    static let usable: [(String, FleetMessage)] = [
        (
            """
            { "shares" : {"new": [{}], "of": 2.0, "owned": 1, "number": 1, "sender": "a/\\u00e9", "limits": null,
            "last": null}, "other": 1 }
            """,
            .shares(LeaseMessage(sender: "a/é", number: 1, owned: 1, partitionCount: 2))
        ),
        (
            """
            {"shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"demand": 0.5, "interactive": 0.75,
            "tenants": 4000000000000, "batchTenants": -3, "later": {}}, "l": {"demand": 1, "interactive": null, "tenants": null}}}}
            """,
            .shares(
                LeaseMessage(
                    sender: "a", number: 1, owned: 1, partitionCount: 2,
                    limits: [
                        "k": LeaseMessage.Limit(demand: 0.5, interactive: 0.75, tenants: 1_000_000, batchTenants: 1),
                        "l": LeaseMessage.Limit(demand: 1),
                    ]))
        ),
        (
            #"{"budget": {"sender": "a", "number": 2, "entries": [], "order": null, "state": null, "answers": null}}"#,
            .budget(BudgetMessage(sender: "a", number: 2))
        ),
    ]

    @Test(arguments: usable) func `Unknown and empty members are ignored`(text: String, message: FleetMessage) {
        #expect(FleetCodec.message(Array(text.utf8)) == message)
    }

    @Test func `A control of a later version is kept`() throws {
        let text =
            #"{"control":{"fleet":"f","order":{"at":1,"by":"b","control":"later","more":[1]},"sender":"s","x":1}}"#
        guard case .control(let message)? = FleetCodec.message(Array(text.utf8)) else {
            Issue.record("it was not read")
            return
        }
        #expect(message.order?.name == "later")
        #expect(message.order?.control == nil)
    }
}
