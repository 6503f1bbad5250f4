import Foundation
import QuotaSharing
import Testing

/// Messages in the fleet topic, as JSON.
struct FleetMessageTests {
    @Test func messageIsDecodedAsItWasEncoded() throws {
        var message = LeaseMessage(sender: "a", number: 7, owned: 4, partitionCount: 12)
        message.limits["google-places"] = LeaseMessage.Limit(
            demand: 0.5, grants: [LeaseMessage.Grant(lessee: "b", answering: 3, share: 0.25)], acknowledged: ["c": 9],
            returned: ["d": 2])
        let last = LeaseMessage(sender: "a", number: 8, owned: 0, partitionCount: 12, isLast: true)

        for message in [FleetMessage.shares(message), .shares(last)] {
            let bytes = try JSONEncoder().encode(message)
            #expect(try JSONDecoder().decode(FleetMessage.self, from: bytes) == message)
        }
    }

    static let unusable = [
        #"{}"#, #"[]"#, #"{"news": {}}"#, #"{"shares": {"sender": "a"}}"#,
        #"{"shares": {"sender": "a", "number": -1, "owned": 1, "of": 2}}"#,
        #"{"shares": {"sender": "a", "number": 1, "owned": -1, "of": 2}}"#,
        #"{"shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"need": 1.5}}}}"#,
        #"{"shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"need": -1}}}}"#,
        """
        {"shares": {"sender": "a", "number": 1, "owned": 1, "of": 2, "limits": {"k": {"need": 1, "grants": [
        {"to": "b", "answering": 1, "part": 40}]}}}}
        """,
    ]

    @Test(arguments: unusable) func unusableTextIsRefused(text: String) {
        #expect(throws: (any Error).self) { try JSONDecoder().decode(FleetMessage.self, from: Data(text.utf8)) }
    }
}
