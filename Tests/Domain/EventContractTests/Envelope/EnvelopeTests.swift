import LocationSearch
import Testing

@testable import EventContract

struct EnvelopeTests {
    private static let body = Array(#"{"location":{"latitude":1,"longitude":2}}"#.utf8)

    // MARK: The request's id

    @Test(arguments: Envelope.allCases)
    func `The event's id replaces a missing request id`(envelope: Envelope) throws {
        let decoded = try Records.decode(Records.record(Self.body, in: envelope))
        #expect(decoded.request.requestID == (envelope == .bare ? "requests-3-42" : "event-1"))
    }

    @Test func `A record of a long topic gets a valid request id`() throws {
        let topic = String(repeating: "t", count: 249)
        let source = SourcePosition(topic: topic, partition: 100_000, offset: .max)
        let decoded = try Records.decode(ConsumerRecord(source: source, value: Self.body))
        #expect(decoded.request.requestID.count == 128)
        #expect(decoded.request.requestID.hasSuffix("-100000-9223372036854775807"))
    }

    @Test func `An unusable event id is refused only without a request id`() throws {
        let long = RecordHeader("ce_id", text: String(repeating: "i", count: 10_240))
        let headers = Records.eventHeaders + [long]
        let rejected = try #require(Records.rejection(of: Records.record(Self.body, headers: headers)))
        #expect(rejected.error.member == "ce_id")
        #expect(rejected.requestID == "requests-3-42")
        let named = Records.search(with: #""requestId":"r-1""#)
        #expect(try Records.decode(Records.record(Array(named.utf8), headers: headers)).request.requestID == "r-1")
    }

    // MARK: Time

    @Test func `The event's time takes precedence over the record's timestamp`() throws {
        let expected = WallTime(rfc3339: Array("2026-11-21T09:30:00.250Z".utf8))
        for envelope in [Envelope.binary, .structured, .structuredBase64] {
            #expect(try Records.decode(Records.record(Self.body, in: envelope)).envelope.time == expected)
        }
        let broken = Records.eventHeaders.filter { $0.name != "ce_time" } + [RecordHeader("ce_time", text: "yesterday")]
        let decoded = try Records.decode(Records.record(Self.body, headers: broken))
        #expect(decoded.envelope.time == Records.timestamp)
    }

    // MARK: Expiry

    private static let unreadableTimes = ["tomorrow", "", "2026-11-21", "1700000000", "2026-11-21T09:30:00"]

    /// If it were ignored, calls would be made after the request has expired.
    @Test(arguments: unreadableTimes)
    func `An expiry time that is no time is refused`(text: String) throws {
        let headers = Records.eventHeaders + [RecordHeader("ce_expirytime", text: text)]
        let binary = try #require(Records.rejection(of: Records.record(Self.body, headers: headers)))
        #expect(binary.error.member == "ce_expirytime")
        #expect(binary.error.code == .invalidRequest)
        #expect(binary.error.message.contains("RFC 3339 time such as 2026-11-22T09:30:00Z"))
        #expect(binary.requestID == "event-1")

        for value in ["\"\(text)\"", "7", "{}", #""\ud800""#] {
            let rejected = try #require(Records.rejection(of: try structured("\"expirytime\":\(value)")))
            #expect(rejected.error.member == "expirytime", "\(value)")
        }
    }

    @Test func `An expiry time is read in both modes`() throws {
        let expected = try #require(WallTime(rfc3339: Array("2026-11-22T09:30:00Z".utf8)))
        let headers = Records.eventHeaders + [RecordHeader("ce_expirytime", text: "2026-11-22T09:30:00Z")]
        #expect(try Records.decode(Records.record(Self.body, headers: headers)).envelope.expiry == expected)
        let event = try structured(#""expirytime":"2026-11-22T09:30:00Z""#)
        #expect(try Records.decode(event).envelope.expiry == expected)

        #expect(try Records.decode(try structured(#""expirytime":null"#)).envelope.expiry == nil)
        let none = Records.eventHeaders + [RecordHeader("ce_expirytime", nil)]
        #expect(try Records.decode(Records.record(Self.body, headers: none)).envelope.expiry == nil)
    }

    /// A valid event in structured mode with one additional member.
    private func structured(_ member: String) throws -> ConsumerRecord {
        let good = try #require(Records.record(Self.body, in: .structured).value)
        return Records.record(Array(good.dropLast() + Array(",\(member)}".utf8)), headers: [Records.structuredType])
    }

    // MARK: Binary mode

    static let brokenHeaders: [(String, [UInt8]?)] = [
        ("ce_specversion", nil), ("ce_specversion", Array("0.3".utf8)), ("ce_specversion", []),
        ("ce_id", nil), ("ce_id", []), ("ce_id", [0xC3, 0x28]), ("ce_source", nil), ("ce_source", []),
        ("ce_source", [0xFF]), ("ce_type", nil), ("ce_type", Array("location-search.completed.v1".utf8)),
        ("ce_type", Array("location-search.requested.v2".utf8)), ("ce_type", [0x00]),
        ("content-type", Array("text/plain".utf8)), ("content-type", Array("application/avro".utf8)),
        ("content-type", [0xFF]), ("content-type", Array("application/cloudevents+avro".utf8)),
        ("content-type", Array("application/cloudevents-batch+json".utf8)),
    ]
    @Test(arguments: brokenHeaders)
    func `A rejection names the header at fault`(header: (name: String, value: [UInt8]?)) throws {
        let others = Records.eventHeaders.filter { $0.name != header.name }
        let replaced = others + [RecordHeader(header.name, header.value)]
        let rejected = try #require(Records.rejection(of: Records.record(Self.body, headers: replaced)))
        #expect(rejected.error.member == header.name)
        if header.name != "content-type" {
            let missing = try #require(Records.rejection(of: Records.record(Self.body, headers: others)))
            #expect(missing.error.member == header.name)
        }
    }

    @Test func `A rejection for a wrong envelope names the request`() throws {
        let headers = Records.eventHeaders.filter { $0.name != "ce_type" } + [RecordHeader("ce_type", text: "other")]
        let body = Records.search(with: #""requestId":"r-1","limit":-1"#)
        let rejected = try #require(Records.rejection(of: Records.record(Array(body.utf8), headers: headers)))
        #expect(rejected.error.member == "ce_type")
        #expect(rejected.requestID == "r-1")
    }

    @Test func `The last of repeated headers counts`() throws {
        let headers = [RecordHeader("ce_type", text: "other"), RecordHeader("ce_id", [0xFF])] + Records.eventHeaders
        #expect(try Records.decode(Records.record(Self.body, headers: headers)).request.requestID == "event-1")
    }

    @Test(arguments: [
        "application/json", "APPLICATION/JSON", "application/json; charset=utf-8", "application/json;charset=utf-8",
        "text/json", "application/vnd.example+json", " application/json",
    ])
    func `Every spelling of JSON is accepted`(type: String) throws {
        let headers =
            Records.eventHeaders.filter { $0.name != "content-type" } + [RecordHeader("Content-Type", text: type)]
        #expect(throws: Never.self) { try Records.decode(Records.record(Self.body, headers: headers)) }
    }

    @Test func `Foreign headers and content types do not make an event`() throws {
        let headers = [
            RecordHeader("content-type", text: "text/plain"), RecordHeader("x-team", nil), RecordHeader("", []),
            RecordHeader("cell", text: "7"),
        ]
        #expect(try Records.decode(Records.record(Self.body, headers: headers)).request.requestID == "requests-3-42")
    }

    // MARK: Structured mode

    @Test(arguments: [
        "application/cloudevents+json", "Application/CloudEvents+JSON", "application/cloudevents+json; charset=UTF-8",
        "application/cloudevents+json;charset=UTF-8",
    ])
    func `A content type selects structured mode`(type: String) throws {
        let event = Records.record(Self.body, in: .structured)
        let record = Records.record(event.value, headers: [RecordHeader("content-type", text: type)])
        #expect(try Records.decode(record).request.requestID == "event-1")
    }

    /// Replacements for an attribute of a valid event, and the member that is at fault.
    static let brokenEvents: [(String, String)] = [
        (#""specversion":"1.1""#, "specversion"), (#""specversion":1.0"#, "specversion"),
        (#""id":"""#, "id"), (#""id":7"#, "id"), (#""id":null"#, "id"), (#""id":"\ud800""#, "id"),
        (#""id":"\#(String(repeating: "i", count: 129))""#, "id"), (#""source":null"#, "source"),
        (#""source":"""#, "source"), (#""type":"other""#, "type"), (#""type":{}"#, "type"),
        (#""datacontenttype":"text/xml""#, "datacontenttype"), (#""data":null"#, "data"), (#""data":[]"#, "data"),
        (#""data":"{}""#, "data"), (#""data":{}"#, "location"), (#""data_base64":"e30=""#, "data_base64"),
        (#""data":null,"data_base64":"e30""#, "data_base64"), (#""data":null,"data_base64":"e3=0""#, "data_base64"),
        (#""data":null,"data_base64":"!!!!""#, "data_base64"), (#""data":null,"data_base64":7"#, "data"),
        (#""data":null,"data_base64":"W10=""#, "data_base64"), (#""data":null,"data_base64":"e30=""#, "location"),
    ]
    @Test(arguments: brokenEvents)
    func `A rejection names the event's member at fault`(replaced: (json: String, name: String)) throws {
        // If a member is there twice, the last one counts.
        let good = Records.record(Self.body, in: .structured)
        let event = try #require(good.value).dropLast() + Array(",\(replaced.json)}".utf8)
        let rejected = try #require(
            Records.rejection(of: Records.record(Array(event), headers: [Records.structuredType])))
        #expect(rejected.error.member == replaced.name)
    }

    @Test(arguments: ["", "[]", "7", "{", "null", #"{"data":{"#, "{}x"])
    func `A structured record without an event is refused for its value`(text: String) throws {
        let record = Records.record(Array(text.utf8), headers: [Records.structuredType])
        #expect(Records.rejection(of: record)?.error.member == "value")
    }

    @Test func `An event without its attributes is refused`() throws {
        let record = Records.record(Array(#"{"data":{}}"#.utf8), headers: [Records.structuredType])
        #expect(Records.rejection(of: record)?.error.member == "specversion")
    }

    @Test func `A structured event may hold its data first`() throws {
        let event = """
            {"data":{"location":{"latitude":1,"longitude":2},"requestId":"r-1"},"type":"location-search.requested.v1",
             "source":"/x","id":"e","specversion":"1.0","extension":true}
            """
        let record = Records.record(Array(event.utf8), headers: [Records.structuredType])
        #expect(try Records.decode(record).request.requestID == "r-1")
    }

    // MARK: An event without its content type

    /// Its members lie in `data`, so as bare JSON it would be rejected for a missing location that it has.
    @Test(arguments: [[], [RecordHeader("content-type", text: "application/json")]])
    func `A rejection names the missing content type of a structured event`(headers: [RecordHeader]) throws {
        for envelope in [Envelope.structured, .structuredBase64] {
            let event = Records.record(Self.body, in: envelope)
            let rejected = try #require(Records.rejection(of: Records.record(event.value, headers: headers)))
            #expect(rejected.error.code == .invalidRequest)
            #expect(rejected.error.member == "content-type")
            #expect(rejected.error.message.contains("set the header content-type to \"application/cloudevents+json\""))
            #expect(rejected.requestID == "event-1")
        }
    }

    @Test(arguments: [
        #"{"specversion":"1.0"}"#, #"{"type":"x","source":"y","data":{}}"#, #"{"specversion":1,"type":2,"source":3}"#,
    ])
    func `A bare request that resembles an event is refused for its members`(text: String) {
        #expect(Records.rejection(of: text)?.error.member == "location")
    }

    @Test func `A bare request may have members of an event`() throws {
        let text = Records.search(with: #""specversion":"1.0","type":"x","source":"y""#)
        #expect(throws: Never.self) { try Records.decode(text) }
    }

    // MARK: Trace

    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func `A trace is read from every kind of header`() throws {
        let plain = [RecordHeader("traceparent", text: Self.parent), RecordHeader("tracestate", text: "a=b")]
        let extensions = [
            RecordHeader("ce_traceparent", text: Self.parent), RecordHeader("ce_tracestate", text: "a=b"),
        ]
        let event = try #require(Records.record(Self.body, in: .structured).value).dropLast()
        let structured = event + Array(#","traceparent":"\#(Self.parent)","tracestate":"a=b"}"#.utf8)
        let records = [
            Records.record(Self.body, headers: plain), Records.record(Self.body, headers: Records.eventHeaders + plain),
            Records.record(Self.body, headers: Records.eventHeaders + extensions),
            Records.record(Array(structured), headers: [Records.structuredType]),
        ]
        for record in records {
            let trace = try #require(try Records.decode(record).envelope.trace)
            #expect(trace.traceparent == Array(Self.parent.utf8))
            #expect(trace.traceState == Array("a=b".utf8))
        }
    }

    @Test func `The two texts of a trace belong together`() throws {
        let other = Self.parent.replacing("0af7", with: "1af7")
        let extensions = [RecordHeader("ce_traceparent", text: other), RecordHeader("ce_tracestate", text: "a=b")]
        for (header, parent, state) in [(Self.parent, Self.parent, nil), ("00-x", other, "a=b")] {
            let headers = Records.eventHeaders + [RecordHeader("traceparent", text: header)] + extensions
            let trace = try #require(try Records.decode(Records.record(Self.body, headers: headers)).envelope.trace)
            #expect(trace.traceparent == Array(parent.utf8))
            #expect(trace.traceState == state.map { Array($0.utf8) })
        }
    }

    @Test func `A structured event has no part of its trace in event headers`() throws {
        let event = try structured(#""traceparent":"\#(Self.parent)""#)
        let record = Records.record(
            event.value, headers: [Records.structuredType, RecordHeader("ce_tracestate", text: "a=b")])
        let trace = try #require(try Records.decode(record).envelope.trace)
        #expect(trace.traceparent == Array(Self.parent.utf8))
        #expect(trace.traceState == nil)
    }

    @Test(arguments: [nil, [], [0xFF], Array(repeating: UInt8(ascii: "0"), count: 10_240), Array("00-x".utf8)])
    func `A request with an invalid trace is accepted without it`(parent: [UInt8]?) throws {
        let headers = [RecordHeader("traceparent", parent), RecordHeader("tracestate", text: "a=b")]
        #expect(try Records.decode(Records.record(Self.body, headers: headers)).envelope.trace == nil)
    }

    @Test func `A rejection keeps key and trace of its record`() throws {
        let record = Records.record([], key: Array("k".utf8), headers: [RecordHeader("traceparent", text: Self.parent)])
        let rejected = try #require(Records.rejection(of: record))
        #expect(rejected.envelope.key == Array("k".utf8))
        #expect(rejected.envelope.trace?.traceID == "0af7651916cd43dd8448eb211c80319c")
    }

    // MARK: A record as a line of JSON

    @Test func `A record is written as one line`() {
        let headers = [RecordHeader("a", text: "1"), RecordHeader("b", nil), RecordHeader("c", [0xFF])]
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
