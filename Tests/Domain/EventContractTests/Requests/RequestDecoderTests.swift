import LocationSearch
import Testing

@testable import EventContract

struct RequestDecoderTests {
    @Test func `A request without optional members gets the contract's defaults`() throws {
        let decoded = try Records.decode(#"{"location":{"latitude":35.690921,"longitude":139.700258}}"#)
        #expect(
            decoded.request
                == SearchRequest(
                    requestID: "requests-3-42", operation: .search, provider: .auto, category: "restaurant",
                    location: Coordinate(latitude: 35.690921, longitude: 139.700258), radiusMeters: 1500, limit: 20))
        #expect(decoded.envelope == RequestEnvelope(source: Records.source, time: Records.timestamp))
    }

    @Test(arguments: Envelope.allCases)
    func `Every member is read`(envelope: Envelope) throws {
        let body = """
            {"requestId":"r-1","operation":"search","provider":"hotpepper","category":"hospital",
             "location":{"latitude":-90,"longitude":180},"radiusMeters":0.5e2,"keyword":"ラーメン","language":"zh-TW",
             "openNow":true,"limit":2.0,"pageToken":"t","placeId":"p","sessionId":"s","timeoutMs":6e4}
            """
        let expected = SearchRequest(
            requestID: "r-1", operation: .search, provider: .named(.hotpepper), category: "hospital",
            location: Coordinate(latitude: -90, longitude: 180), radiusMeters: 50, keyword: "ラーメン", language: "zh-TW",
            openNow: true, limit: 2, pageToken: "t", placeID: "p", sessionID: "s", timeout: .seconds(60))
        #expect(try Records.decode(body, in: envelope).request == expected)
    }

    /// For speed, the decoder has a separate list of the names.
    @Test func `Every operation and provider is read by its name`() throws {
        for operation in SearchOperation.allCases {
            for provider in ProviderID.allCases.map({ ProviderChoice.named($0) }) + [.auto] {
                let name = provider.named?.rawValue ?? "auto"
                let decoded = try Records.decode(
                    Records.search(
                        with: #""operation":"\#(operation.rawValue)","provider":"\#(name)","placeId":"p""#))
                #expect(decoded.request.operation == operation)
                #expect(decoded.request.provider == provider)
            }
        }
    }

    static let accepted = [
        #""requestId":null"#, #""operation":null,"provider":null,"category":null,"radiusMeters":null"#,
        #""keyword":null,"language":null,"openNow":null,"limit":null,"pageToken":null,"timeoutMs":null"#,
        #""location2":{"latitude":"x"},"unknown":[[{"a":1e999}]]"#,
        #""radiusMeters":1"#, #""radiusMeters":50000"#, #""limit":1"#, #""limit":100"#, #""limit":1e2"#,
        #""timeoutMs":1"#, #""timeoutMs":60000.0"#, #""provider":"auto""#, #""provider":"google-places-legacy""#,
        #""language":"ja""#, #""language":"sl-rozaj-biske-1994""#, #""keyword":"\u3042\ud83c\udf63""#,
        #""limit":"many","limit":7"#, #""location":null,"location":{"latitude":1,"longitude":2}"#, #""\u006cimit":7"#,
    ]
    @Test(arguments: accepted, Envelope.allCases)
    func `Optional, unknown and repeated members are accepted`(member: String, envelope: Envelope) throws {
        #expect(throws: Never.self) { try Records.decode(Records.search(with: member), in: envelope) }
    }

    /// Additional members of a search, and the member that is at fault. `SearchRequestValidationTests` has all limits.
    static let refused: [(String, String)] = [
        (#""requestId":7"#, "requestId"), (#""requestId":"""#, "requestId"), (#""requestId":["a"]"#, "requestId"),
        (#""requestId":"\#(String(repeating: "x", count: 10_240))""#, "requestId"),
        (#""sessionId":"""#, "sessionId"), (#""sessionId":{}"#, "sessionId"), (#""sessionId":"\ud800""#, "sessionId"),
        (#""operation":"delete""#, "operation"), (#""operation":1"#, "operation"), (#""operation":"""#, "operation"),
        (#""operation":"searc""#, "operation"), (#""provider":"google-places-legacx""#, "provider"),
        (#""provider":"\ud800""#, "provider"), (#""provider":"bing""#, "provider"), (#""provider":false"#, "provider"),
        (#""category":"""#, "category"), (#""category":5"#, "category"), (#""keyword":12"#, "keyword"),
        (#""language":"ja_JP""#, "language"), (#""language":1"#, "language"), (#""openNow":"true""#, "openNow"),
        (#""openNow":1"#, "openNow"), (#""limit":101"#, "limit"), (#""limit":1.5"#, "limit"),
        (#""limit":"20""#, "limit"), (#""limit":true"#, "limit"), (#""limit":1e400"#, "limit"),
        (#""limit":-9223372036854775809"#, "limit"), (#""limit":7,"limit":"many""#, "limit"),
        (#""radiusMeters":0.99"#, "radiusMeters"), (#""radiusMeters":"1500""#, "radiusMeters"),
        (#""radiusMeters":1e999"#, "radiusMeters"), (#""radiusMeters":[]"#, "radiusMeters"),
        (#""timeoutMs":1.5"#, "timeoutMs"), (#""timeoutMs":60001"#, "timeoutMs"), (#""timeoutMs":"5s""#, "timeoutMs"),
        (#""timeoutMs":99999999999999999999"#, "timeoutMs"),
        (#""pageToken":"""#, "pageToken"), (#""pageToken":9"#, "pageToken"),
        (#""location":[35,139]"#, "location"), (#""location":"35,139""#, "location"), (#""location":null"#, "location"),
        (#""location":{"latitude":-90.01,"longitude":0}"#, "location.latitude"),
        (#""location":{"latitude":"35","longitude":0}"#, "location.latitude"),
        (#""location":{"latitude":1e999,"longitude":0}"#, "location.latitude"),
        (#""location":{"longitude":0}"#, "location.latitude"), (#""location":{}"#, "location.latitude"),
        (#""location":{"latitude":null,"longitude":0}"#, "location.latitude"),
        (#""location":{"latitude":0,"longitude":{}}"#, "location.longitude"),
        (#""location":{"latitude":0}"#, "location.longitude"),
        (#""operation":"details""#, "placeId"), (#""operation":"photo","placeId":null"#, "placeId"),
        (#""operation":"details","placeId":5"#, "placeId"),
    ]
    @Test(arguments: refused, Envelope.allCases)
    func `A rejection names the member at fault`(member: (json: String, name: String), envelope: Envelope) throws {
        let rejected = try #require(Records.rejection(of: Records.search(with: member.json), in: envelope))
        #expect(rejected.error.code == .invalidRequest)
        #expect(rejected.error.member == member.name)
        #expect(rejected.error.message.contains("expected"))
    }

    @Test(arguments: [#"{"latitude":"x"}"#, "[]", #"{"latitude":91,"longitude":200}"#, "null", "7"])
    func `The location is ignored for details and photos`(location: String) throws {
        for operation in ["details", "photo"] {
            let body = #"{"operation":"\#(operation)","placeId":"p","location":\#(location)}"#
            #expect(try Records.decode(body).request.location == nil)
        }
    }

    // MARK: Faults of the whole record

    static let noRequests: [[UInt8]?] = [
        nil, [], [0x20], Array("null".utf8), Array("[]".utf8), Array("7".utf8), Array("\"text\"".utf8),
        Array("{".utf8), Array(#"{"location":{"latitude":35"#.utf8), Array("{}}".utf8), Array("{} {}".utf8),
        Array("{'a':1}".utf8), Array("{\"a\":01}".utf8), Array("{\"limit\":NaN}".utf8),
        Array(#"{"location":{"latitude":NaN,"longitude":0}}"#.utf8),
        Array(#"{"location":{"latitude":-Infinity,"longitude":0}}"#.utf8),
        Array("<html></html>".utf8), [0xFF, 0xFE, 0x7B, 0x00], Array(repeating: 0xFF, count: 100),
        Array(#"{"unknown":"#.utf8) + [0x22, 0xC3, 0x28, 0x22, 0x7D],
        Array((#"{"a":"# + String(repeating: "[", count: 65) + String(repeating: "]", count: 65) + "}").utf8),
        Array(String(repeating: "[", count: 60_000).utf8),
        Array(Records.search(with: #""pad":"\#(String(repeating: "x", count: 65_536))""#).utf8),
    ]
    @Test(arguments: noRequests)
    func `A rejection names the value if it is no request`(value: [UInt8]?) throws {
        let rejected = try #require(Records.rejection(of: Records.record(value)))
        #expect(rejected.error.member == "value")
        #expect(rejected.requestID == "requests-3-42")
        #expect(rejected.error.message.utf8.count < 200)
    }

    @Test func `A record of ten megabytes is refused unread`() throws {
        let value = Array(Records.search(with: #""requestId":"r-1""#).utf8) + Array(repeating: 0x20, count: 10_000_000)
        let rejected = try #require(Records.rejection(of: Records.record(value)))
        #expect(rejected.error.member == "value")
        #expect(rejected.requestID == "requests-3-42")
    }

    /// Bodies in which `§` stands for invalid UTF-8, and the member at fault; `nil` for the text around the request.
    static let spoilt: [(body: String, member: String?)] = [
        (Records.search(with: #""keyword":"§""#), "keyword"), (Records.search(with: #""requestId":"§""#), "requestId"),
        (Records.search(with: #""unknown":"§""#), nil), (Records.search(with: #""keyword":"§","keyword":"a""#), nil),
        // The location of a details request is ignored, but its text is not.
        (#"{"operation":"details","placeId":"p","location":"§"}"#, nil),
        (#"{"operation":"photo","location":[],"unknown":"§","placeId":"p"}"#, nil),
        (#"{"location":7,"placeId":"p","operation":"details","§":1}"#, nil),
    ]
    @Test(arguments: spoilt, Envelope.allCases)
    func `Invalid UTF-8 is reported wherever it is`(
        spoilt: (body: String, member: String?), envelope: Envelope
    ) throws {
        let parts = spoilt.body.split(separator: "§").map { Array($0.utf8) }
        let body = parts[0] + [0xC3, 0x28] + parts[1]
        let rejected = try #require(Records.rejection(of: Records.record(body, in: envelope)))
        let whole = envelope == .structuredBase64 ? "data_base64" : "value"
        #expect(rejected.error.member == spoilt.member ?? whole)
        #expect(rejected.error.message.contains("UTF-8"))
    }

    @Test(arguments: [[0, 0, 0, 0, 7], [1] + Array(repeating: 9, count: 16)])
    func `The framing of a schema registry is recognised`(prefix: [UInt8]) throws {
        let value = prefix + Array(Records.search(with: #""limit":1"#).utf8)
        let rejected = try #require(Records.rejection(of: Records.record(value)))
        #expect(rejected.error.member == "value")
        #expect(rejected.error.message.contains("schema registry"))
    }

    @Test func `A record that exceeds a size limit is refused`() throws {
        let body = Records.search(with: #""limit":1"#)
        let fitting = body + String(repeating: " ", count: 65_536 - body.utf8.count)
        #expect(throws: Never.self) { try Records.decode(fitting) }
        #expect(Records.rejection(of: fitting + " ")?.error.member == "value")
        let large = [UInt8](repeating: 65, count: 65_537)
        #expect(Records.rejection(of: Records.record(Array(body.utf8), key: large))?.error.member == "key")
        let headers = [RecordHeader("x", large)]
        #expect(Records.rejection(of: Records.record(Array(body.utf8), headers: headers))?.error.member == "headers")
        let small = RequestDecoder(maximumBytes: 10)
        #expect(throws: RejectedRecord.self) { try small.decode(Records.record(Array(body.utf8))) }
    }

    @Test func `A rejection has the ids of its request`() throws {
        let body = Records.search(
            with: #""requestId":"r-9","sessionId":"s-9","operation":"photo","provider":"hotpepper","limit":-1"#)
        for (text, isWhole) in [(body, true), (String(body.dropLast()), false), (body + "}", false)] {
            let rejected = try #require(Records.rejection(of: text))
            #expect(rejected.requestID == "r-9")
            #expect(rejected.sessionID == "s-9")
            #expect(rejected.operation == .photo)
            #expect(rejected.provider == .hotpepper)
            #expect((rejected.error.member == "value") != isWhole)
        }
    }

    @Test func `No byte of the record is in the error`() throws {
        let secret = "AIzaSECRETSECRET"
        for member in [#""limit":"\#(secret)""#, #""operation":"\#(secret)""#, #""\#(secret)"#, secret] {
            let rejected = try #require(Records.rejection(of: Records.search(with: member)))
            #expect(!rejected.error.message.contains("SECRET"))
        }
    }
}
