import LocationSearch
import Testing

struct SearchRequestValidationTests {
    private static let shinjuku = Coordinate(latitude: 35.690921, longitude: 139.700258)
    private static func request(_ change: (inout SearchRequest) -> Void) -> SearchRequest {
        var request = SearchRequest(requestID: "r", location: shinjuku)
        change(&request)
        return request
    }

    static let refused: [(SearchRequest, member: String)] =
        [
            (request { $0.requestID = "" }, "requestId"),
            (request { $0.requestID = String(repeating: "x", count: 129) }, "requestId"),
            (request { $0.location = nil }, "location"),
            (request { $0.location?.latitude = 91 }, "location.latitude"),
            (request { $0.location?.latitude = .nan }, "location.latitude"),
            (request { $0.location?.longitude = -180.5 }, "location.longitude"),
            (request { $0.location?.longitude = .infinity }, "location.longitude"),
            (request { $0.radiusMeters = -1 }, "radiusMeters"),
            (request { $0.radiusMeters = 50_001 }, "radiusMeters"),
            (request { $0.radiusMeters = .nan }, "radiusMeters"),
            (request { $0.limit = 0 }, "limit"),
            (request { $0.limit = 101 }, "limit"),
            (request { $0.timeout = .zero }, "timeoutMs"),
            (request { $0.timeout = .milliseconds(60_001) }, "timeoutMs"),
            (request { $0.keyword = "" }, "keyword"),
            (request { $0.keyword = String(repeating: "麺", count: 257) }, "keyword"),
            (request { $0.category = "" }, "category"),
            (request { $0.category = String(repeating: "c", count: 65) }, "category"),
            (request { $0.pageToken = String(repeating: "t", count: 4097) }, "pageToken"),
            (request { $0.sessionID = "" }, "sessionId"),
            (request { $0.operation = .details }, "placeId"),
            (request { ($0.operation, $0.placeID) = (.photo, "") }, "placeId"),
            (request { ($0.operation, $0.placeID) = (.photo, String(repeating: "p", count: 513)) }, "placeId"),
        ] + languages.map { language in (request { $0.language = language }, "language") }
    private static let languages = [
        "日本語", "-", "ja-", "ja--JP", "abcdefghi", "j1", "ja_JP", String(repeating: "a-", count: 18),
    ]
    @Test(arguments: refused)
    func `The error names the member that is out of range`(request: SearchRequest, member: String) {
        let error = #expect(throws: SearchError.self) { try request.validated() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.member == member)
        #expect(error?.message.contains(member) == true)
    }

    static let accepted: [SearchRequest] = [
        request { _ in },
        request { $0.location = Coordinate(latitude: -90, longitude: 180) },
        request { $0.requestID = String(repeating: "麺", count: 128) },
        request { $0.keyword = String(repeating: "🍜", count: 256) },
        request { $0.language = "zh-Hant-TW" },
        request { $0.timeout = .seconds(60) },
        request { $0.radiusMeters = 1 },
        request { ($0.operation, $0.placeID, $0.location) = (.details, "ChIJ", nil) },
    ]
    @Test(arguments: accepted)
    func `A request within the limits is valid`(request: SearchRequest) throws {
        #expect(try request.validated() == request)
    }
}
