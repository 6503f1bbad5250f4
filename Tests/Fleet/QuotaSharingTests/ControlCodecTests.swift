import Testing

@testable import QuotaSharing

/// The bytes of messages about orders, which workers of other versions read.
struct ControlCodecTests {
    private static var order: ControlOrder {
        var order = ControlOrder(
            .rate, provider: "hotpepper", number: 12.5, until: 1_764_090_000_000, by: "mori@ops", at: 1_764_080_000_000)
        (order.instance, order.worker, order.isForced) = ("5b9c", "web-1", true)
        return order
    }

    private static var plain: ControlOrder { ControlOrder(.pauseIntake, by: "mori@ops", at: 7) }

    private static let messages: [(ControlMessage, String)] = [
        (
            ControlMessage(sender: "s", fleet: "f", order: order),
            #"""
            {"control":{"fleet":"f","order":{"at":1764080000000,"by":"mori@ops","control":"rate","isForced":true,\#
            "instance":"5b9c","number":12.5,"provider":"hotpepper","until":1764090000000,"worker":"web-1"},"sender":"s"}}
            """#
        ),
        (
            ControlMessage(sender: "s", fleet: "f", question: ControlMessage.Question(order: plain)),
            #"""
            {"control":{"fleet":"f","question":{"order":{"at":7,"by":"mori@ops","control":"pause-intake"}},"sender":"s"}}
            """#
        ),
        (
            ControlMessage(
                sender: "5b9c", fleet: "f", answer: ControlMessage.Answer(to: "s", worker: "web-1", refusal: "no")),
            #"{"control":{"answer":{"refusal":"no","to":"s","worker":"web-1"},"fleet":"f","sender":"5b9c"}}"#
        ),
        (
            ControlMessage(
                sender: "5b9c", fleet: "f", snapshot: ControlMessage.Snapshot(offset: 9, orders: [plain])),
            #"""
            {"control":{"fleet":"f","sender":"5b9c",\#
            "state":{"offset":9,"orders":[{"at":7,"by":"mori@ops","control":"pause-intake"}]}}}
            """#
        ),
    ]

    @Test(arguments: messages) func messageHasTheseBytes(message: ControlMessage, text: String) {
        #expect(String(decoding: FleetCodec.bytes(of: .control(message)), as: UTF8.self) == text)
    }

    @Test(arguments: messages) func messageIsReadAsItWasWritten(message: ControlMessage, text: String) {
        #expect(FleetCodec.message(Array(text.utf8)) == .control(message))
    }

    /// A reader that does not know this kind of message finds a record without a message.
    @Test func kindOfALaterVersionIsNoMessage() {
        #expect(FleetCodec.message(Array(#"{"later":{"sender":"s"}}"#.utf8)) == nil)
    }

    @Test func controlAndMembersOfALaterVersionAreKept() throws {
        let text =
            #"{"control":{"fleet":"f","order":{"at":1,"by":"b","control":"later","more":[1]},"sender":"s","x":1}}"#
        guard case .control(let message)? = FleetCodec.message(Array(text.utf8)) else {
            Issue.record("it was not read")
            return
        }
        #expect(message.order?.name == "later")
        #expect(message.order?.control == nil)
    }

    @Test(arguments: [
        #"{"control":{"fleet":"f","order":{"at":1,"by":"b"},"sender":"s"}}"#,
        #"{"control":{"order":{"at":1,"by":"b","control":"rate"},"sender":"s"}}"#,
        #"{"control":{"fleet":"f","order":{"at":1,"by":"b","control":"rate","number":-1},"sender":"s"}}"#,
        #"{"control":{"fleet":"f","order":{"at":1,"by":"b","control":"rate","number":1e300},"sender":"s"}}"#,
        #"{"control":{"fleet":"f","order":{"at":1e30,"by":"b","control":"rate"},"sender":"s"}}"#,
    ])
    func whatCannotBeIsNoMessage(text: String) {
        #expect(FleetCodec.message(Array(text.utf8)) == nil)
    }
}
