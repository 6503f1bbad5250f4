import LocationSearch
import Testing

@testable import EventContract

struct RequestEncoderTests {
    static let requests = [
        SearchRequest(requestID: "a", location: Coordinate(latitude: 35.690921, longitude: 139.700258)),
        SearchRequest(
            requestID: "b\"\\\u{1}", provider: .named(.googlePlacesLegacy), category: "hospital",
            location: Coordinate(latitude: -89.999_999_9, longitude: 1e-7), radiusMeters: 1.5, keyword: "ラーメン 🍜",
            language: "zh-TW", openNow: false, limit: 100, pageToken: String(repeating: "t", count: 4096),
            sessionID: "session", timeout: .milliseconds(1)),
        SearchRequest(requestID: "c", operation: .details, placeID: "J001"),
        SearchRequest(requestID: "d", operation: .photo, provider: .named(.googlePlaces), placeID: "places/x/photos/y"),
    ]

    @Test(arguments: requests)
    func `An encoded request is decoded as the same request`(request: SearchRequest) throws {
        var encoder = RequestEncoder()
        let trace = TraceContext(traceparent: Array(Outcomes.traceParent.utf8), tracestate: Array("a=b".utf8))
        let encoded = encoder.encode(request, at: Outcomes.receivedAt, expiry: Outcomes.completedAt, trace: trace)
        let record = Records.record(encoded.value, key: encoded.key, headers: encoded.headers)
        let decoded = try Records.decode(record)
        #expect(decoded.request == request)
        #expect(decoded.envelope.time == Outcomes.receivedAt && decoded.envelope.trace == trace)
        #expect(decoded.envelope.expiry == Outcomes.completedAt)
        #expect(encoded.key == Array((request.sessionID ?? request.requestID).utf8))
        #expect(encoded.headers.last(named: "ce_source")?.text == "/locsearch")
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero, .nanoseconds(1)])
    func `A request with an invalid timeout is encoded unchanged`(timeout: Duration) throws {
        var encoder = RequestEncoder()
        let request = SearchRequest(requestID: "a", location: Coordinate(latitude: 0, longitude: 0), timeout: timeout)
        let encoded = encoder.encode(request, at: Outcomes.receivedAt)
        let rejected = try #require(Records.rejection(of: Records.record(encoded.value, headers: encoded.headers)))
        #expect(rejected.error.member == "timeoutMs")
    }
}
