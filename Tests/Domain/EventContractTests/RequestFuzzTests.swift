import Foundation
@testable import LocationSearch
import TestSupport
import Testing

@testable import EventContract

/// Damaged records, the same in every run. Each is a valid request or one rejection with a reason, and either becomes a readable event.
struct RequestFuzzTests {
    private static let inputs = SplitMix64.inputs(usually: 15_000)

    @Test(arguments: Envelope.allCases)
    func `Every record is a request or one rejection`(envelope: Envelope) throws {
        var records = try RandomRecords(envelope)
        var (accepted, rejected) = (0, 0)
        let share = Self.inputs / Envelope.allCases.count
        for number in 0..<share {
            let record = records.next()
            let fault: String?
            do throws(RejectedRecord) {
                fault = Self.fault(of: try Records.decode(record))
                accepted += 1
            } catch {
                fault = Self.fault(of: error) ?? Self.fault(of: DeadLetter(record, error: error.error, at: .now()))
                rejected += 1
            }
            #expect(fault == nil, "input \(number): \(String(decoding: record.value ?? [], as: UTF8.self))")
        }
        // Both cases must occur: otherwise the damage is too small or too great to test anything.
        #expect(min(accepted, rejected) > share / 10, "\(accepted) accepted, \(rejected) rejected")
    }

    // MARK: Requests

    private static func fault(of decoded: DecodedRequest) -> String? {
        let request = decoded.request
        guard (try? request.validated()) == request else { return "out of range" }
        return fault(ofRepeated: request) ?? fault(ofOutcomesOf: decoded)
    }

    /// A request that is encoded again stays the same. Coordinates are written to a centimetre.
    private static func fault(ofRepeated request: SearchRequest) -> String? {
        var encoder = RequestEncoder()
        let encoded = encoder.encode(request, at: Outcomes.receivedAt)
        guard var again = try? Records.decode(Records.record(encoded.value, headers: encoded.headers)).request else {
            return "repeated, it is refused"
        }
        let (here, there) = (request.location, again.location)
        let isNear =
            abs((here?.latitude ?? 0) - (there?.latitude ?? 0)) < 1e-6
            && abs((here?.longitude ?? 0) - (there?.longitude ?? 0)) < 1e-6
        guard (here == nil) == (there == nil), isNear else { return "repeated, it is elsewhere" }
        again.location = here
        return again == request ? nil : "repeated, it is another"
    }

    private static func fault(ofOutcomesOf decoded: DecodedRequest) -> String? {
        let request = decoded.request
        let place = Place(
            id: request.placeID ?? "p", provider: .hotpepper, name: request.keyword ?? "n", category: request.category,
            location: request.location)
        let found = SearchOutcome.Result(places: [place], nextPageToken: request.pageToken)
        for result in [.success(found), .failure(.timedOut)] as [Result<SearchOutcome.Result, SearchError>] {
            let outcome = SearchOutcome(
                requestID: request.requestID, operation: request.operation, provider: .hotpepper, triedProviders: [],
                sessionID: request.sessionID, result: result, upstream: .zero, attempts: 1)
            let encoded = Outcomes.encode(outcome, for: decoded.envelope)
            if let fault = fault(of: encoded, requestID: request.requestID, sessionID: request.sessionID) {
                return fault
            }
        }
        return nil
    }

    // MARK: Rejections

    private static func fault(of rejected: RejectedRecord) -> String? {
        let error = rejected.error
        if error.code != .invalidRequest || error.member?.isEmpty != false { return "names no member" }
        if error.message.isEmpty || error.message.utf8.count > 300 { return "message's length" }
        let isLine = error.message.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        if !isLine { return "message of several lines" }
        if error.message.contains(RandomRecords.secret) { return "message with the record's text" }
        for id in [rejected.requestID, rejected.sessionID].compactMap(\.self) {
            if !(1...128).contains(id.unicodeScalars.count) { return "id's length" }
        }
        return fault(of: Outcomes.encode(rejected), requestID: rejected.requestID, sessionID: rejected.sessionID)
    }

    /// A dead letter can be read back.
    private static func fault(of letter: DeadLetter) -> String? {
        DeadLetter(key: letter.key, value: letter.value, headers: letter.headers) == letter ? nil : "dead letter"
    }

    // MARK: Events

    /// The event is valid JSON for another reader too, and our reader finds the same ids.
    private static func fault(of encoded: ProducerRecord, requestID: String, sessionID: String?) -> String? {
        guard (try? JSONSerialization.jsonObject(with: Data(encoded.value ?? []))) is [String: Any] else {
            return "no JSON"
        }
        guard let event = try? OutcomeReader().read(value: encoded.value, headers: encoded.headers) else {
            return "no outcome"
        }
        func isSame(_ a: String?, _ b: String?) -> Bool { a.map { Array($0.utf8) } == b.map { Array($0.utf8) } }
        if !isSame(event.requestID, requestID) || !isSame(event.sessionID, sessionID) { return "other ids" }
        let areLines = encoded.headers.allSatisfy { header in
            header.text?.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } == true
        }
        return areLines ? nil : "header that is no line of text"
    }

    // MARK: Large inputs

    /// More than a record may have: the time must grow with the size, not its square.
    private static let decoder = RequestDecoder(maximumBytes: 1 << 20)
    private static func much(_ text: String) -> [UInt8] {
        Array(String(repeating: text, count: 65_536 / text.utf8.count).utf8)
    }

    @Test(arguments: Envelope.allCases)
    func `Much of one piece is rejected`(envelope: Envelope) {
        let pieces = [
            "[", "{\"a\":", "\"limit\":\"x\",", "{\"data\":", "\"", "\\u0000", " ", "9",
            "{\"location\":{\"latitude\":", "\u{FEFF}", "é",
        ]
        for piece in pieces.map(Self.much) {
            for body in [piece, Array("{\"x\":[".utf8) + piece, Array("{".utf8) + piece] {
                #expect(throws: RejectedRecord.self) { try Self.decoder.decode(Records.record(body, in: envelope)) }
            }
        }
    }

    /// Unknown headers are allowed; attributes of an event must be text.
    @Test(arguments: ["ce_id", "ce_type", "tracestate", "CE_TIME", "content-type", "ce_", "x"])
    func `Many headers and long ones are decoded or rejected`(name: String) {
        let body = Array(Records.search(with: "\"limit\":1").utf8)
        let long = [RecordHeader(name, Self.much("a=b,"))]
        let many = (0..<50_000).map { RecordHeader("\(name)\($0 % 999)", text: "1") }
        let isHarmless = !["ce_id", "ce_type", "content-type"].contains(name)
        let areRead = [long, many].map { headers in
            (try? Self.decoder.decode(Records.record(body, headers: Records.eventHeaders + headers))) != nil
        }
        #expect(areRead == [isHarmless, true])
    }
}

/// Records of one envelope, from the schemas' examples and random ones, most of them damaged.
private struct RandomRecords {
    /// A text that occurs in records only, and must not occur in errors about them.
    static let secret = "S3CRET"

    private let envelope: Envelope
    private var random: SplitMix64
    private let bodies: [[UInt8]]
    private let refused: [[UInt8]]

    init(_ envelope: Envelope) throws {
        self.envelope = envelope
        random = SplitMix64(state: UInt64(Envelope.allCases.firstIndex(of: envelope) ?? 0) + 1)
        bodies = try SchemaExamplesTests.requests() + Self.own
        refused = try SchemaExamplesTests.invalidRequests()
    }

    private static let own = [
        #"{"requestId":"r-1","location":{"latitude":35.69,"longitude":139.7},"limit":20,"openNow":true}"#,
        Records.search(with: #""keyword":"ラーメン\n\ud83c\udf5c","timeoutMs":5e3,"sessionId":null,"x":[{}]"#),
        #" { "operation" : "details" , "placeId" : "J001" , "provider":"hotpepper" } "#,
        #"{"requestId":"S3CRET","sessionId":"S3CRET","keyword":"S3CRET\u0001","category":"S3CRET","S3CRET":"S3CRET"}"#,
    ].map { Array($0.utf8) }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &random) }
    private mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

    mutating func next() -> ConsumerRecord {
        var body = below(3) == 0 ? inventedBody() : pick(below(10) == 0 ? refused : bodies)
        if below(2) == 0 { for _ in 0..<below(4) { damage(&body) } }
        var record = Records.record(body, in: envelope)
        if below(6) == 0, var value = record.value {
            damage(&value)
            record.value = value
        }
        if below(3) == 0 { for _ in 0...below(3) { damage(&record.headers) } }
        switch below(100) {
        case 0: record.value = nil
        case 1: record.value = []
        case 2: record.value?.insert(contentsOf: [0, 0, 0, 0, 7], at: 0)
        case 3: record.value?.append(contentsOf: [UInt8](repeating: 0x20, count: 65_536))
        case 4: record.key = [UInt8](repeating: 0x41, count: 65_537)
        case 5...30: record.key = noise(below(20))
        default: break
        }
        return record
    }

    // MARK: Bodies

    private static let members = [
        "requestId", "operation", "provider", "category", "location", "radiusMeters", "keyword", "language", "openNow",
        "limit", "pageToken", "placeId", "sessionId", "timeoutMs", "unknown", "", "\\u006cimit", "S3CRET",
    ]
    private static let values = [
        "null", "true", "false", "0", "1", "-1", "20", "1.0", "1e2", "1e999", "-0", "99999999999999999999", "50000.5",
        "\"\"", "\"a\"", "\"ja\"", "\"search\"", "\"photo\"", "\"details\"", "\"hotpepper\"", "\"auto\"", "\"S3CRET\"",
        "\"\\u0000\\n\"", "\"\\ud83c\\udf5c\"", "\"\\ud800\"", "\"日本 \u{7F}\u{85}\u{2028}\"", "[]", "{}", "[[{}]]",
        "{\"latitude\":1,\"longitude\":2}", "{\"latitude\":-90,\"longitude\":180.0}", "{\"latitude\":91}",
        "{\"latitude\":\"1\",\"longitude\":null}", "{\"latitude\":1,\"latitude\":2,\"longitude\":1e-300}",
    ]

    private mutating func inventedBody() -> [UInt8] {
        var members = below(4) == 0 ? [] : ["\"location\":{\"latitude\":35.5,\"longitude\":139.5}"]
        for _ in 0..<below(4) {
            let value = below(20) == 0 ? "\"\(String(repeating: "長", count: below(5000)))\"" : pick(Self.values)
            members.append("\"\(pick(Self.members))\":\(value)")
        }
        return Array("{\(members.shuffled(using: &random).joined(separator: below(2) == 0 ? "," : " ,\n "))}".utf8)
    }

    private static let pieces =
        [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "null", "1e999", "NaN", "-", "\\ud800", "\u{0}", "\"limit\":",
            "é", "0", "9", "\"data\":", "\"data_base64\":\"\",", "\"specversion\":\"0.3\",", "\"id\":null,", "\u{FEFF}",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]]

    private mutating func damage(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let place = below(bytes.count)
        switch below(8) {
        case 0: bytes[place] ^= 1 << UInt8(below(8))
        case 1: bytes[place] = .random(in: .min ... .max, using: &random)
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + below(20)))
        case 3: if below(3) == 0 { bytes.removeLast(bytes.count - place) }
        case 4: bytes.insert(contentsOf: Array(bytes[place..<min(bytes.count, place + 1 + below(40))]), at: place)
        case 5: bytes.insert(contentsOf: pick(Self.pieces), at: place)
        default:
            // Replaces a value: the result usually stays valid JSON.
            guard let colon = bytes[place...].firstIndex(of: UInt8(ascii: ":")),
                let end = bytes[colon...].firstIndex(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}") })
            else { return }
            bytes.replaceSubrange(colon + 1..<end, with: pick(Self.values).utf8)
        }
    }

    // MARK: Headers

    private static let names = [
        "ce_specversion", "ce_id", "ce_source", "ce_type", "ce_time", "ce_expirytime", "ce_traceparent",
        "ce_tracestate", "content-type", "traceparent", "tracestate", "Content-Type", "CE_ID", "ce_", "ce_S3CRET", "",
        "x", "\u{0}", "İ", "dead-letter-reason", "source-topic", "ＣＥ_ID",
    ]
    private static let texts = [
        "1.0", "1.1", "0.3", "", " ", "event-2", "S3CRET", "/x", "location-search.requested.v1",
        "location-search.completed.v1", "2026-11-21T09:30:00Z", "0000-00-00T99:99:99Z", "9999-12-31T23:59:60+23:59",
        "2026-02-30T00:00:00.999999999999999999999Z", "application/json", "APPLICATION/JSON ; charset=utf-8",
        "application/cloudevents+json", "application/cloudevents-batch+json", "text/plain", ";", "a/b+json",
        Outcomes.traceParent, "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff-more",
        "00-00000000000000000000000000000000-0000000000000000-00", "a=b", "a=b,c@d=e,", "a=\n", "é=1", "a=b,a=b",
    ]

    private mutating func noise(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in .random(in: .min ... .max, using: &random) }
    }

    private mutating func headerValue() -> [UInt8]? {
        switch below(12) {
        case 0: nil
        case 1: noise(below(60))
        case 2: Array(String(repeating: pick(["a", "é", "a=b,", "\u{0}"]), count: below(10_000)).utf8)
        case 3: Array(pick(Self.texts).utf8) + [pick([0x00, 0x0A, 0x80, 0xFF])]
        case 4 where below(8) == 0: [UInt8](repeating: 0x61, count: 70_000)
        default: Array(pick(Self.texts).utf8)
        }
    }

    private mutating func headerName() -> String {
        below(4) == 0 ? String(decoding: noise(below(12)), as: UTF8.self) : pick(Self.names)
    }

    private mutating func damage(_ headers: inout [RecordHeader]) {
        let place = below(headers.count + 1)
        guard place < headers.count else { return headers.append(RecordHeader(headerName(), headerValue())) }
        switch below(7) {
        case 0: headers.remove(at: place)
        case 1: headers.append(headers[place])
        case 2: headers[place].name = below(2) == 0 ? headers[place].name.uppercased() : headerName()
        case 3: headers.shuffle(using: &random)
        case 4: headers.insert(RecordHeader(headers[place].name, headerValue()), at: below(headers.count))
        case 5 where below(10) == 0:
            for number in 0..<below(2000) { headers.append(RecordHeader("x-\(number % 100)", headerValue())) }
        default: headers[place].value = headerValue()
        }
    }
}
