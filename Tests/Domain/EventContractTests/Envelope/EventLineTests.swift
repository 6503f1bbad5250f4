import Testing

@testable import EventContract

struct EventLineTests {
    @Test func `Record is written as one line`() {
        let headers = [EventHeader("a", text: "1"), EventHeader("b", nil), EventHeader("c", [0xFF])]
        let line = EventLine.encode(
            topic: "t", partition: 0, offset: 7, key: [0xFF, 0xFE], value: Array("{\"a\":\n1}".utf8), headers: headers)
        #expect(
            String(decoding: line, as: UTF8.self)
                == #"{"topic":"t","partition":0,"offset":7,"keyBase64":"//4=","headers":[["a","1"],["b",null],["c",{"base64":"/w=="}]],"value":"{\"a\":\n1}"}"#
        )
        let empty = EventLine.encode(topic: "t", key: nil, value: nil, headers: [])
        #expect(String(decoding: empty, as: UTF8.self) == #"{"topic":"t","key":null,"headers":[],"value":null}"#)
    }
}
