import Testing

@testable import EventContract

struct EventLineTests {
    @Test func aRecordBecomesOneLine() {
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

    @Test func base64ComesBack() {
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
            #expect(Base64.decode(Base64.encode(bytes).utf8) == bytes)
        }
        #expect(Base64.encode(Array("foobar".utf8)) == "Zm9vYmFy" && Base64.encode(Array("fooba".utf8)) == "Zm9vYmE=")
    }

    @Test(arguments: ["Zg", "Zg=", "Zh==", "Z===", "====", "Zg==Zg==", "Zm9v\n", "Zm9-", "あ"])
    func otherTextIsNoBase64(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }
}
