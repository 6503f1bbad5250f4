import LocationSearch
import Testing

@testable import EventContract

struct OutcomeEncoderTests {
    private static let timing =
        #""timing":{"receivedAt":"2023-11-14T22:13:20.000Z","completedAt":"2023-11-14T22:13:20.087Z","upstreamMs":87,"attempts":1}"#
    private static let start = #"{"requestId":"r-1","operation":"search","provider":"hotpepper","#

    @Test func `A result is written with the contract's members`() {
        let encoded = Outcomes.encode(Outcomes.outcome(.success(Outcomes.searched)))
        #expect(encoded.topic == "location-search.results")
        #expect(
            encoded.text == Self.start + #"""
                "sessionId":"s-1","places":[{"id":"J001","provider":"hotpepper","name":"炭火\"灯り\"\\屋\n","category":"居酒屋","types":["居酒屋","和食"],"location":{"latitude":35.690921,"longitude":-139.700258},"distanceMeters":120,"address":"東京都","imageURL":"https://img.example/1.jpg","url":"https://www.example/J001/","rating":4.1,"ratingCount":30,"priceLevel":0,"openNow":false},{"id":"x","provider":"google-places","name":"y"}],"totalAvailable":1234,"nextPageToken":"21","attributions":["Powered by Example"],"search":{"category":"restaurant","location":{"latitude":35.69,"longitude":139.7},"radiusMeters":2000},
                """# + Self.timing + "}")
    }

    @Test func `A result without places has an empty list and no unknown members`() {
        var outcome = Outcomes.outcome(.success(SearchOutcome.Result()))
        (outcome.sessionID, outcome.provider) = (nil, nil)
        #expect(
            Outcomes.encode(outcome).text == #"{"requestId":"r-1","operation":"search","places":[],"# + Self.timing
                + "}")
    }

    @Test func `A photo has a separate member`() {
        let result = SearchOutcome.Result(photoURL: "https://img.example/p.jpg", attributions: ["A. Person"])
        #expect(
            Outcomes.encode(Outcomes.outcome(.success(result), operation: .photo)).text
                == #"{"requestId":"r-1","operation":"photo","provider":"hotpepper","sessionId":"s-1","photo":{"imageURL":"https://img.example/p.jpg"},"attributions":["A. Person"],"#
                + Self.timing + "}")
    }

    @Test func `An error is written with the contract's members`() {
        let error = SearchError(
            .rateLimited, "slow down", retryAfter: .microseconds(1500), httpStatus: 429,
            providerStatus: "RESOURCE_EXHAUSTED", member: "limit")
        let encoded = Outcomes.encode(Outcomes.outcome(.failure(error), tried: [.hotpepper, .googlePlaces]))
        #expect(encoded.topic == "location-search.errors")
        #expect(
            encoded.text
                == Self.start + #"""
                    "triedProviders":["hotpepper","google-places"],"sessionId":"s-1","error":{"code":"rate-limited","message":"slow down","retryable":true,"retryAfterMs":2,"httpStatus":429,"providerStatus":"RESOURCE_EXHAUSTED","member":"limit"},
                    """# + Self.timing + "}")
    }

    @Test(arguments: SearchError.Limit.allCases)
    func `An error names the worker's limit that allowed no call`(limit: SearchError.Limit) {
        let error = SearchError(.rateLimited, "m", limit: limit)
        let text = Outcomes.encode(Outcomes.outcome(.failure(error))).text
        #expect(text.contains(#""message":"m","retryable":true,"limit":"\#(limit.rawValue)"}"#))
    }

    @Test(arguments: SearchError.Code.allCases)
    func `Every code is marked as retryable or not`(code: SearchError.Code) {
        let text = Outcomes.encode(Outcomes.outcome(.failure(SearchError(code, "m")))).text
        #expect(text.contains(#""code":"\#(code.rawValue)","message":"m","retryable":\#(code.isRetryable)}"#))
    }

    @Test func `An outcome names the tried providers only after a fallback`() {
        let one = Outcomes.outcome(.success(Outcomes.searched), tried: [.hotpepper])
        let two = Outcomes.outcome(.success(Outcomes.searched), tried: [.hotpepper, .googlePlaces])
        #expect(!Outcomes.encode(one).text.contains("triedProviders"))
        #expect(Outcomes.encode(two).text.contains(#""triedProviders":["hotpepper","google-places"]"#))
    }

    @Test func `Numbers that JSON lacks are left out`() {
        var place = Outcomes.bare
        (place.rating, place.distanceMeters) = (.nan, .infinity)
        let text = Outcomes.encode(Outcomes.outcome(.success(.init(places: [place])))).text
        #expect(text.contains(#"{"id":"x","provider":"google-places","name":"y"}"#))
    }

    // MARK: The record around it

    @Test func `An outcome has the contract's headers`() {
        let encoded = Outcomes.encode(Outcomes.outcome(.success(Outcomes.searched)), for: Outcomes.envelope(key: "k"))
        #expect(encoded.key == Array("k".utf8))
        #expect(
            encoded.headers.map(\.line) == [
                "ce_specversion=1.0", "ce_id=requests-3-42", "ce_source=/location-search-worker",
                "ce_type=location-search.completed.v1", "ce_time=2023-11-14T22:13:20.087Z",
                "content-type=application/json", "source-topic=requests", "source-partition=3", "source-offset=42",
            ])
        let failed = Outcomes.encode(Outcomes.outcome(.failure(.timedOut)))
        #expect(failed.headers.last(named: "ce_type")?.text == "location-search.failed.v1")
        #expect(failed.headers.last(named: "ce_id")?.text == "requests-3-42")
        #expect(failed.key == Array("r-1".utf8))
    }

    @Test func `An outcome of a request with an empty key has an empty key`() {
        #expect(Outcomes.encode(Outcomes.outcome(.failure(.timedOut)), for: Outcomes.envelope(key: "")).key == [])
    }

    @Test func `An outcome continues the trace with a new parent`() throws {
        var encoder = OutcomeEncoder(seed: 7)
        var parents: Set<String> = []
        for _ in 0..<100 {
            let headers = Outcomes.encode(
                Outcomes.outcome(.failure(.timedOut)), for: Outcomes.envelope(traced: true), by: &encoder
            ).headers
            let parent = try #require(headers.last(named: "traceparent")?.text)
            #expect(parent.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") && parent.hasSuffix("-01"))
            #expect(headers.last(named: "tracestate")?.text == "a=b")
            parents.insert(parent)
        }
        #expect(parents.count == 100 && !parents.contains(Outcomes.traceParent))
    }

    @Test func `A rejection is written as an error event`() throws {
        let rejected = try #require(Records.rejection(of: #"{"requestId":"r-2","operation":7}"#))
        let encoded = Outcomes.encode(rejected)
        #expect(encoded.topic == "location-search.errors")
        #expect(
            encoded.text
                == #"""
                {"requestId":"r-2","error":{"code":"invalid-request","message":"operation is not valid: expected one of search, details, photo","retryable":false,"member":"operation"},"timing":{"receivedAt":"2023-11-14T22:13:20.000Z","completedAt":"2023-11-14T22:13:20.087Z","upstreamMs":0,"attempts":0}}
                """#)
        #expect(encoded.headers.last(named: "source-offset")?.text == "42")
    }

    /// A sender whose `requestId` could not be read finds its error by the key or the position.
    @Test(
        arguments: ["{", #"{"requestId":"read-before-the-fault","limit":"#, "no JSON", "", nil] as [String?],
        ["order-7", "", nil] as [String?])
    func `An error of an unreadable record has its key and position`(value: String?, key: String?) throws {
        let record = Records.record(value.map { Array($0.utf8) }, key: key.map { Array($0.utf8) })
        let rejected = try #require(Records.rejection(of: record))
        let encoded = Outcomes.encode(rejected)

        #expect(encoded.key == Array((key ?? encoded.requestID).utf8))
        #expect(encoded.headers.last(named: "ce_id")?.text == "requests-3-42")
        #expect(SourcePosition(headers: encoded.headers) == Records.source)
        let isIDRead = value?.contains("read-before-the-fault") == true
        #expect(encoded.requestID == (isIDRead ? "read-before-the-fault" : "requests-3-42"))
    }

    @Test func `The encoder leaves nothing of one event in the next`() {
        var encoder = OutcomeEncoder(seed: 1)
        let large = Outcomes.outcome(.success(.init(places: Places(repeatElement(Outcomes.full, count: 1000)))))
        let small = Outcomes.outcome(.failure(.timedOut))
        let alone = Outcomes.encode(small)
        for _ in 0..<3 {
            let first = Outcomes.encode(large, by: &encoder)
            let second = Outcomes.encode(small, by: &encoder)
            #expect(first.value?.count ?? 0 > 300_000)
            #expect(second.value == alone.value)
        }
    }
}
