import Foundation
import TestSupport
import Testing

@testable import ProviderSimulator

struct FaultTests {
    static let providers = Simulator.Provider.allCases

    @Test(arguments: providers, [301, 302, 400, 404, 408, 413, 429, 500, 502, 503, 504])
    func `Every provider answers the HTTP status that is asked for`(provider: Simulator.Provider, status: Int)
        async throws
    {
        let simulator = try await Simulator()
        let answer = try await simulator.search(provider, "fault:\(status)")
        #expect(answer.status == status && answer.text.contains("<html"))
        #expect(answer.headers["retry-after"] == nil)
        #expect((answer.headers["location"] != nil) == (status < 400))
    }

    @Test(arguments: providers)
    func `Faults ignore case`(provider: Simulator.Provider) async throws {
        let simulator = try await Simulator()
        #expect(try await simulator.search(provider, "Fault:503").status == 503)
    }

    @Test func `The Retry-After header has the fault's seconds`() async throws {
        let simulator = try await Simulator()
        #expect(try await simulator.search(.legacy, "fault:503=7").headers["retry-after"] == "7")
        #expect(try await simulator.search(.hotpepper, "fault:rate-limited=9").headers["retry-after"] == "9")
        #expect(try await simulator.search(.legacy, "fault:rate-limited=9").headers["retry-after"] == "9")
    }

    /// For each fault name: Hot Pepper's code (0 for HTTP 429), the older Google API's status, and the HTTP code,
    /// status and reason of Google Places (New).
    static let errors: [(String, Int, String, Int, String, String?)] = [
        ("1000", 1000, "UNKNOWN_ERROR", 500, "INTERNAL", nil),
        ("2000", 2000, "REQUEST_DENIED", 400, "INVALID_ARGUMENT", "API_KEY_INVALID"),
        ("3000", 3000, "INVALID_REQUEST", 400, "INVALID_ARGUMENT", nil),
        ("OVER_QUERY_LIMIT", 0, "OVER_QUERY_LIMIT", 429, "RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED"),
        ("OVER_DAILY_LIMIT", 0, "OVER_QUERY_LIMIT", 429, "RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED"),
        ("REQUEST_DENIED", 2000, "REQUEST_DENIED", 400, "INVALID_ARGUMENT", "API_KEY_INVALID"),
        ("UNKNOWN_ERROR", 1000, "UNKNOWN_ERROR", 500, "INTERNAL", nil),
        ("NOT_FOUND", 3000, "NOT_FOUND", 404, "NOT_FOUND", nil),
        ("UNAUTHENTICATED", 2000, "REQUEST_DENIED", 401, "UNAUTHENTICATED", nil),
        ("PERMISSION_DENIED", 2000, "REQUEST_DENIED", 403, "PERMISSION_DENIED", "API_KEY_SERVICE_BLOCKED"),
        ("UNAVAILABLE", 1000, "UNKNOWN_ERROR", 503, "UNAVAILABLE", nil),
        ("unknown_status", 9999, "SOMETHING_NEW", 418, "SOMETHING_NEW", nil),
    ]
    @Test(arguments: errors)
    func `Every provider reports an error in its own shape`(
        spelling: String, hotpepper: Int, legacy: String, code: Int, status: String, reason: String?
    ) async throws {
        let simulator = try await Simulator()
        let first = try await simulator.search(.hotpepper, "fault:\(spelling)")
        if hotpepper == 0 {
            #expect(first.status == 429)
        } else {
            #expect(first.status == 200 && first.code == hotpepper)
        }
        let second = try await simulator.search(.legacy, "fault:\(spelling)")
        #expect(second.status == 200 && second.legacyStatus == legacy)
        let third = try await simulator.search(.new, "fault:\(spelling)")
        #expect(third.status == code && third.error["code"] as? Int == code)
        #expect(third.error["status"] as? String == status && third.reasons.first == reason)
    }

    @Test func `Rate limit errors name their span and the time to wait`() async throws {
        let simulator = try await Simulator()
        let daily = try await simulator.search(.legacy, "fault:rate-limited-day")
        #expect((daily.object["error_message"] as? String)?.contains("exceeded your daily request quota") == true)
        for (spelling, span) in [("rate-limited-day", "PerDay"), ("RESOURCE_EXHAUSTED", "PerMinute")] {
            let answer = try await simulator.search(.new, "fault:\(spelling)=17")
            let details = try #require(answer.error["details"] as? [[String: Any]])
            #expect(
                (details[0]["metadata"] as? [String: Any]).map { ($0["quota_limit"] as? String)?.contains(span) }
                    == true)
            #expect(details.contains { $0["retryDelay"] as? String == "17s" })
        }
    }

    static let bodies: [(String, @Sendable (Answer) -> Bool)] = [
        ("html", { $0.text.hasPrefix("<!DOCTYPE html") }), ("empty", { $0.body.isEmpty }),
        ("garbage", { $0.body.count == 4096 && $0.json == nil }), ("xml", { $0.text.hasPrefix("<?xml") }),
        ("cut", { $0.body.count > 100 && $0.text.hasPrefix("{") && $0.json == nil }),
        ("deep", { $0.text.contains(String(repeating: "[", count: 100_000)) }), ("shape", { $0.json is [Any] }),
        ("none", { $0.shops.isEmpty && $0.legacyResults.isEmpty && $0.places.isEmpty && $0.json != nil }),
    ]
    @Test(arguments: providers, bodies.map(\.0))
    func `A wrong body has status 200`(provider: Simulator.Provider, spelling: String) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.search(provider, "fault:\(spelling)")
        #expect(answer.status == 200 && answer.ending == .complete)
        #expect(Self.bodies.first { $0.0 == spelling }?.1(answer) == true, "\(answer.text.prefix(200))")
    }

    @Test(arguments: providers)
    func `A connection ends as the fault demands`(provider: Simulator.Provider) async throws {
        let simulator = try await Simulator()
        // Even with `Connection: close`, a reset is no orderly close.
        for headers in [[:], ["Connection": "close"]] {
            let reset = try await simulator.search(provider, "fault:reset", headers)
            #expect(reset.ending == .reset && reset.status == 0)
            let late = try await simulator.search(provider, "fault:reset-body", headers)
            #expect(late.ending == .reset && late.status == 200 && !late.body.isEmpty)
        }
        let closed = try await simulator.search(provider, "fault:close")
        #expect(closed.ending == .closedEarly && closed.status == 0)
        let truncated = try await simulator.search(provider, "fault:truncated")
        let length = Int(truncated.headers["content-length"] ?? "") ?? 0
        #expect(truncated.ending == .closedEarly && truncated.body.count == length / 2)
        let chunked = try await simulator.search(provider, "fault:cut-chunked")
        #expect(chunked.headers["transfer-encoding"] == "chunked")
        #expect(chunked.ending == .closedEarly && !chunked.body.isEmpty)
    }

    @Test(arguments: providers)
    func `A hanging fault stays silent until the client disconnects`(provider: Simulator.Provider) async throws {
        let simulator = try await Simulator()
        let hang = try await simulator.search(provider, "fault:hang", patience: 0.3)
        #expect(hang.ending == .silent && hang.status == 0)
        let half = try await simulator.search(provider, "fault:hang-body", bodyPatience: 0.3)
        #expect(half.ending == .silent && half.status == 200 && !half.body.isEmpty)
        try await eventually("both are counted as aborted") {
            let stats = try await simulator.stats(provider)
            return stats["aborted"] as? Int == 2 && stats["inFlight"] as? Int == 0
        }
    }

    @Test(arguments: providers)
    func `Delayed and dripping answers take the requested time`(provider: Simulator.Provider) async throws {
        let simulator = try await Simulator()
        let late = try await simulator.search(provider, "fault:delay=250")
        #expect(late.status == 200 && late.seconds >= 0.24)
        let slow = try await simulator.search(provider, "fault:drip=400")
        #expect(slow.ending == .complete && slow.json != nil && slow.seconds >= 0.3)
        let both = try await simulator.search(provider, "fault:delay=150 fault:503")
        #expect(both.status == 503 && both.seconds >= 0.14)
    }

    @Test func `A huge body is streamed as fast as it is read`() async throws {
        let simulator = try await Simulator()
        let answer = try await blocking {
            let client = try RawClient(port: simulator.port)
            client.send(Simulator.request("GET", "/hotpepper/gourmet/v1/?key=k&keyword=fault:huge", [:], body: nil))
            return client.answer(limit: 3 << 20)
        }
        #expect(answer.headers["content-length"] == "\(100 << 20)")
        #expect(answer.body.count >= 3 << 20)
        let whole = try await simulator.search(.new, "fault:huge=3")
        #expect(whole.body.count == 3 << 20 && whole.object.isEmpty && whole.json != nil)
    }

    private static let curl = "/usr/bin/curl"

    /// The result in an independent client: curl's exit codes.
    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: curl), "curl is needed"),
        arguments: [
            ("none", 0), ("truncated", 18), ("cut-chunked", 18), ("reset", 56), ("close", 52), ("hang", 28),
            ("bad-gzip", 61),
        ])
    func `An independent client reports each fault's error`(spelling: String, code: Int32) async throws {
        let simulator = try await Simulator()
        let curl = try RunningProgram(
            [
                "-s", "-o", "/dev/null", "--max-time", spelling == "hang" ? "1" : "60", "--compressed",
                "http://127.0.0.1:\(simulator.port)/hotpepper/gourmet/v1/?key=k&format=json&\(Simulator.spot)&keyword=fault:\(spelling)",
            ], at: Self.curl)
        try await eventually("curl ends", within: .seconds(90)) { !curl.isRunning }
        let status = curl.code
        // Damaged data end in 61 (bad content encoding) or 23 (write error in the decoder), depending on the version.
        #expect(status == code || code == 61 && status == 23, "\(status ?? -1)")
    }

    @Test func `A fault comes only as often as its spelling demands`() async throws {
        let simulator = try await Simulator()
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await simulator.search(.hotpepper, "ラーメン fault:503*2").status) }
        #expect(statuses == [503, 503, 200])
        // Each request has a separate count.
        #expect(try await simulator.search(.hotpepper, "ラーメン fault:503*2 tag:2").status == 503)
    }

    @Test func `Faults are read from types and place ids too`() async throws {
        let simulator = try await Simulator()
        #expect(try await simulator.nearby("location=35.69,139.7&radius=500&type=fault:502").status == 502)
        let body = "{\"includedTypes\":[\"fault:502\"],\"locationRestriction\":\(Simulator.circle())}"
        #expect(try await simulator.new("searchNearby", body).status == 502)
        #expect(try await simulator.gourmet("id=fault:502").status == 502)
        #expect(try await simulator.gourmet("\(Simulator.spot)&genre=fault:502").status == 502)
        #expect(try await simulator.get("/maps/api/place/details/json?key=k&place_id=fault:502").status == 502)
        let headers = ["X-Goog-Api-Key": "k", "X-Goog-FieldMask": "id"]
        #expect(try await simulator.get("/v1/places/fault:502", headers).status == 502)
        #expect(try await simulator.get("/v1/places/fault%3A502", headers).status == 502)
    }

    @Test func `Every spelling in the table is a fault`() {
        for row in FaultTable.rows {
            for part in row.spelling.split(separator: ", ") {
                let spelling = String(part).replacing(/=(date)?(S|MS|MB)/) { "=\($0.1 ?? "")1" }
                if ["delay=1", "NAME*N", "300 ... 599"].contains(spelling) { continue }
                #expect(FaultTable.accepts(spelling), "\(spelling)")
            }
        }
        #expect(!FaultTable.accepts("nonsense") && !FaultTable.accepts("") && !FaultTable.accepts("299"))
    }

    @Test(arguments: [
        "fault:nonsense", "fault:", "fault:503*x", "fault:huge=-1", "fault:delay=x", "fault:=", "fault:*",
    ])
    func `A misspelt fault is ignored`(text: String) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.search(.hotpepper, text)
        #expect(answer.ending == .complete && answer.status > 0)
    }
}
