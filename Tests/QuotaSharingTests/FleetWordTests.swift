import Foundation
import QuotaSharing
import Testing

/// Words as they stand in the topic.
struct FleetWordTests {
    @Test func aWordComesBackAsItWasSaid() throws {
        var message = FleetMessage(sender: "a", number: 7, owned: 4, partitionCount: 12)
        message.limits["google-places"] = FleetMessage.Limit(
            need: 0.5, grants: [FleetMessage.Grant(borrower: "b", answering: 3, part: 0.25)], heeded: ["c": 9],
            returned: ["d": 2])
        let last = FleetMessage(sender: "a", number: 8, owned: 0, partitionCount: 12, isLast: true)

        for word in [FleetWord.shares(message), .shares(last)] {
            let bytes = try JSONEncoder().encode(word)
            #expect(try JSONDecoder().decode(FleetWord.self, from: bytes) == word)
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

    @Test(arguments: unusable) func whatIsNoWordIsRefused(text: String) {
        #expect(throws: (any Error).self) { try JSONDecoder().decode(FleetWord.self, from: Data(text.utf8)) }
    }
}
