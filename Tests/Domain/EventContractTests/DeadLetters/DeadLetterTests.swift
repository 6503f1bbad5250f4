import LocationSearch
import Testing

@testable import EventContract

struct DeadLetterTests {
    private static let time = WallTime(milliseconds: 1_700_000_000_000)
    private static let error = SearchError.invalid("location.latitude", expected: "a finite number from -90 to 90")

    /// Headers that a record may contain, including those of dead letters.
    static let brought: [[RecordHeader]] = [
        [], [RecordHeader("a", nil), RecordHeader("a", []), RecordHeader("", [0xFF, 0x00])], Records.eventHeaders,
        [
            RecordHeader("dead-letter-reason", text: "mine"), RecordHeader("source-topic", text: "elsewhere"),
            RecordHeader("dead-letter-time", text: "never"), RecordHeader("dead-letter-member", text: "mine"),
        ],
        [RecordHeader("source-offset", text: "-5"), RecordHeader("dead-letter-reason", nil)],
    ]
    static let values: [[UInt8]?] = [nil, [], [0xFF, 0x00, 0x7B], Array("{}".utf8)]

    @Test(arguments: brought, values)
    func `A dead letter keeps key, value and headers exactly`(headers: [RecordHeader], value: [UInt8]?) throws {
        for key in [nil, [], [0xFE]] as [[UInt8]?] {
            let record = Records.record(value, key: key, headers: headers)
            let letter = DeadLetter(record, error: Self.error, at: Self.time)
            #expect(letter.key == key && letter.value == value)
            let read = try #require(DeadLetter(key: letter.key, value: letter.value, headers: letter.headers))
            #expect(read == letter)
            #expect(read.originalHeaders == headers && read.key == key && read.value == value)
        }
    }

    @Test func `A dead letter's headers name the error`() {
        let letter = DeadLetter(
            Records.record([1], headers: [RecordHeader("own", text: "x")]), error: Self.error, at: Self.time)
        #expect(
            letter.headers.map(\.line) == [
                "own=x", "dead-letter-reason=invalid-request",
                "dead-letter-message=location.latitude is not valid: expected a finite number from -90 to 90",
                "dead-letter-member=location.latitude", "source-topic=requests", "source-partition=3",
                "source-offset=42", "dead-letter-time=2023-11-14T22:13:20.000Z",
            ])
    }

    @Test func `A dead letter names its worker and the number of tries`() throws {
        let letter = DeadLetter(
            Records.record([1]), error: Self.error, reason: DeadLetter.crashedWorkers, at: Self.time, worker: "pod-1",
            tries: 3)
        #expect(letter.headers.suffix(2).map(\.line) == ["dead-letter-worker=pod-1", "dead-letter-tries=3"])
        let read = try #require(DeadLetter(key: letter.key, value: letter.value, headers: letter.headers))
        #expect(read == letter && read.worker == "pod-1" && read.tries == 3)

        let damaged = letter.headers.dropLast() + [RecordHeader("dead-letter-tries", text: "often")]
        #expect(DeadLetter(key: nil, value: [1], headers: Array(damaged))?.tries == nil)
    }

    private static let structured = [
        RecordHeader("content-type", text: "application/cloudevents+json"), RecordHeader("ce_expirytime", text: "x"),
    ]

    /// The headers and the value of an event; `EXPIRY` is its `expirytime`.
    @Test(
        arguments: [
            (
                "binary", [RecordHeader("ce_id", text: "1"), RecordHeader("ce_expirytime", text: "EXPIRY")],
                #"{"a": 1}"#,
                true
            ),
            ("binary, any case", [RecordHeader("CE_ExpiryTime", text: "EXPIRY"), RecordHeader("n", [0xFF])], "", true),
            (
                "the last of two",
                [RecordHeader("ce_expirytime", text: "a"), RecordHeader("ce_expirytime", text: "EXPIRY")], "{}", true
            ),
            ("structured", structured, #" {"data":{"expirytime":"a"}, "expirytime" : "EXPIRY" ,"é":1.50 }"#, true),
            ("structured, the last of two", structured, #"{"expirytime":"a","expirytime":"EXPIRY"}"#, true),
            ("structured without one", structured, #"{"data":{"expirytime":"a"},"expirytime":null}"#, false),
            ("structured, not JSON", structured, #"{"expirytime" "a"}"#, false),
            ("none", [RecordHeader("ce_id", text: "1")], #"{"expirytime":"EXPIRY"}"#, false),
            ("a header without a value", [RecordHeader("ce_expirytime", nil)], "{}", false),
        ] as [(String, [RecordHeader], String, Bool)])
    func `A new expiry changes nothing else`(name: String, headers: [RecordHeader], value: String, isChanged: Bool) {
        func letter(_ expiry: String) -> DeadLetter {
            let headers = headers.map { $0.text == "EXPIRY" ? RecordHeader($0.name, text: expiry) : $0 }
            let record = Records.record(Array(value.replacing("EXPIRY", with: expiry).utf8), headers: headers)
            return DeadLetter(record, error: Self.error, at: Self.time)
        }
        let (past, later) = ("2023-11-14T22:13:19Z", "2023-11-14T22:13:21.000Z")
        #expect(letter(past).expiry?.description == (isChanged ? "2023-11-14T22:13:19.000Z" : nil), "\(name)")
        let new = letter(isChanged ? Self.time.description : past)
        #expect(letter(past).expiring(noEarlierThan: Self.time) == new, "\(name)")
        #expect(letter(later).expiring(noEarlierThan: Self.time) == letter(later), "\(name): never shortened")
        #expect(letter("soon").expiring(noEarlierThan: Self.time) == (isChanged ? new : letter("soon")), "\(name)")
    }

    @Test func `A dead letter of a dead letter keeps the first one's headers`() throws {
        let first = DeadLetter(Records.record([1]), error: Self.error, at: Self.time)
        let again = DeadLetter(Records.record([1], headers: first.headers), error: .timedOut, at: Self.time)
        let read = try #require(DeadLetter(key: nil, value: [1], headers: again.headers))
        #expect(read.reason == "timeout")
        #expect(read.member == nil)
        #expect(read.originalHeaders == first.headers)
    }

    @Test(arguments: [[], [RecordHeader("dead-letter-reason", nil)], [RecordHeader("dead-letter-message", text: "m")]])
    func `A record without a reason is no dead letter`(headers: [RecordHeader]) {
        #expect(DeadLetter(key: nil, value: [1], headers: headers) == nil)
    }

    @Test func `A dead letter of an outcome is marked as never redriven`() throws {
        for isBrief in [false, true] {
            var letter = DeadLetter(Records.record([1]), error: Self.error, isOutcome: true, at: Self.time)
            if isBrief { letter = letter.withoutContent }
            #expect(letter.headers.contains { $0.line == "dead-letter-redrive=never" })
            let read = try #require(DeadLetter(key: letter.key, value: letter.value, headers: letter.headers))
            #expect(read == letter && read.isOutcome)
        }
        #expect(!DeadLetter(Records.record([1]), error: Self.error, at: Self.time).isOutcome)
    }

    @Test(arguments: brought) func `Headers that only resemble ours make no dead letter`(headers: [RecordHeader]) {
        #expect(!DeadLetter.isOne(headers))
        let letter = DeadLetter(Records.record([1], headers: headers), error: Self.error, at: Self.time)
        #expect(DeadLetter.isOne(letter.headers))
    }

    /// For a topic that does not accept records of that size: it still contains the error and the position of the record.
    @Test func `A dead letter without content has the record's position`() throws {
        let headers = [RecordHeader("dead-letter-content", text: "mine")]
        let whole = DeadLetter(Records.record([1], key: [2], headers: headers), error: Self.error, at: Self.time)
        let read = try #require(DeadLetter(key: whole.key, value: whole.value, headers: whole.headers))
        #expect(!read.isWithoutContent && read.originalHeaders == headers)
        let letter = whole.withoutContent
        #expect(letter.headers.last?.line == "dead-letter-content=too-large")
        let brief = try #require(DeadLetter(key: letter.key, value: letter.value, headers: letter.headers))
        #expect(brief == letter && brief.isWithoutContent)
        #expect(brief.key == nil && brief.value == nil && brief.originalHeaders.isEmpty)
        #expect(brief.source == Records.source && brief.member == "location.latitude")
    }
}
