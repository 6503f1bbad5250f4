@testable import LocationSearch
import Testing

@testable import EventContract

struct OutcomeReaderTests {
    private func read(_ encoded: ProducerRecord) throws(UnreadableOutcome) -> OutcomeEvent {
        try OutcomeReader().read(value: encoded.value, headers: encoded.headers)
    }

    @Test func `An encoded result is read back`() throws {
        let outcome = Outcomes.outcome(.success(Outcomes.searched), tried: [.googlePlaces, .hotpepper])
        let event = try read(Outcomes.encode(outcome, for: Outcomes.envelope(traced: true)))
        var expected = Outcomes.searched
        var full = Outcomes.full
        full.distanceMeters = 120
        expected.places = [full, Outcomes.bare]
        #expect(event.body == .completed(expected))
        #expect(event.requestID == "r-1" && event.operation == "search" && event.provider == "hotpepper")
        #expect(event.triedProviders == ["google-places", "hotpepper"] && event.sessionID == "s-1")
        #expect(event.receivedAt == Outcomes.receivedAt && event.completedAt == Outcomes.completedAt)
        #expect(event.upstream == .milliseconds(87) && event.attempts == 1)
        #expect(event.id == "requests-3-42" && event.source == Records.source)
        #expect(event.traceID == "0af7651916cd43dd8448eb211c80319c")
    }

    @Test func `An encoded photo is read back`() throws {
        let result = SearchOutcome.Result(photoURL: "https://img.example/p.jpg")
        #expect(
            try read(Outcomes.encode(Outcomes.outcome(.success(result), operation: .photo))).body == .completed(result))
    }

    @Test func `An encoded error is read back`() throws {
        let error = SearchError(
            .rateLimited, "slow", retryAfter: .seconds(2), httpStatus: 429, providerStatus: "X", member: "limit",
            limit: .concurrency)
        let expected = OutcomeEvent.Failure(
            code: "rate-limited", message: "slow", isRetryable: true, retryAfter: .seconds(2), httpStatus: 429,
            providerStatus: "X", member: "limit", limit: "concurrency")
        #expect(try read(Outcomes.encode(Outcomes.outcome(.failure(error)))).body == .failed(expected))
    }

    @Test func `Names that only a newer worker knows are kept`() throws {
        let text = """
            {"requestId":"r","operation":"route","provider":"other","newMember":{},
             "error":{"code":"on-fire","message":"m","retryable":true,"more":1}}
            """
        let event = try OutcomeReader().read(value: Array(text.utf8), headers: [])
        #expect(event.operation == "route" && event.provider == "other")
        #expect(event.body == .failed(OutcomeEvent.Failure(code: "on-fire", message: "m", isRetryable: true)))
    }

    @Test func `Unreadable places are counted`() throws {
        let text = """
            {"requestId":"r","places":[{"id":"1","provider":"hotpepper","name":"a"},{"id":"2","provider":"new","name":"b"},
             7,{"provider":"hotpepper","name":"c"}]}
            """
        let event = try OutcomeReader().read(value: Array(text.utf8), headers: [])
        #expect(event.body == .completed(.init(places: [Place(id: "1", provider: .hotpepper, name: "a")])))
        #expect(event.unreadablePlaces == 3)
    }

    static let noOutcomes: [(String?, String?)] = [
        (nil, nil), ("", nil), ("[]", nil), ("{", nil), ("{}", nil), (#"{"requestId":7}"#, nil),
        (#"{"requestId":"r","places":[]}"#, "location-search.requested.v1"), (#"{"requestId":"r"}"#, "other"),
        (#"{"requestId":"r","places":[]}"#, "location-search.failed.v1"),
    ]
    @Test(arguments: noOutcomes)
    func `A record that is no outcome is refused`(value: String?, type: String?) {
        #expect(throws: UnreadableOutcome.self) {
            try OutcomeReader().read(
                value: value.map { Array($0.utf8) }, headers: type.map { [RecordHeader("ce_type", text: $0)] } ?? [])
        }
    }
}
