import Console
@testable import EventContract
@testable import LocationSearch
import SessionState
import Synchronization
import TestSupport
import Testing

/// Sending requests of a session, and following its state.
struct SessionRoutesTests {
    private static let search = #"{"location":{"latitude":35.69,"longitude":139.7},"keyword":"ramen"}"#

    static func result(of request: SearchRequest, place name: String) -> OutcomeEvent {
        let place = Place(
            id: "J1", provider: .hotpepper, name: name, location: Coordinate(latitude: 35.69, longitude: 139.7))
        return OutcomeEvent(
            requestID: request.requestID, operation: "search", provider: "hotpepper", sessionID: request.sessionID,
            body: .completed(SearchOutcome.Result(places: [place], attributions: ["credit"])), completedAt: .now())
    }

    @Test func `A page shows its search in flight and then its places`() async throws {
        let console = try await RunningConsole()
        let page = try EventStreamClient(port: console.port, path: "/api/sessions/a%20b/events")
        try await page.waitFor("an empty state") { $0.json["revision"] as? Int == 0 }

        let answer = try await console.post("/api/sessions/a%20b/requests", Self.search)
        #expect(answer.status == 202)
        let request = try #require(console.backend.state.withLock { $0.sent.first })
        #expect(answer.json["requestId"] as? String == request.requestID)
        #expect(request.sessionID == "a b")
        #expect(request.keyword == "ramen")
        try await page.waitFor("the search under way") { Self.status(of: $0) == "in-flight" }

        console.store.dispatch(.outcome(Self.result(of: request, place: "<b>灯り屋</b>")))
        let state = try await page.waitFor("the places") { Self.status(of: $0) == "completed" }
        let list = try #require(state.json["list"] as? [String: Any])
        #expect((list["places"] as? [[String: Any]])?.first?["name"] as? String == "<b>灯り屋</b>")
        #expect(list["attributions"] as? [String] == ["credit"])
        #expect(state.json["session"] as? String == "a b")
    }

    private static func status(of event: EventStreamClient.Event) -> String? {
        (event.json["search"] as? [String: Any])?["status"] as? String
    }

    @Test func `A request expires, and the page is told when`() async throws {
        let console = try await RunningConsole { $0.requestExpiry = .seconds(40) }
        let page = try EventStreamClient(port: console.port, path: "/api/sessions/s/events")
        #expect(try await console.post("/api/sessions/s/requests", Self.search).status == 202)
        #expect(console.backend.state.withLock { $0.expiries } == [.seconds(40)])

        let event = try await page.waitFor("the search under way") { Self.status(of: $0) == "in-flight" }
        let pending = try #require((event.json["inFlight"] as? [[String: Any]])?.first)
        let (age, rest) = (try #require(pending["ageMs"] as? Int), try #require(pending["expiresInMs"] as? Int))
        #expect((0...20_000).contains(age) && age + rest == 40_000, "\(age) \(rest)")

        // The expiry of other clients' requests is not known here.
        let other = SearchRequest(requestID: "r", location: Coordinate(latitude: 1, longitude: 1), sessionID: "s")
        console.store.dispatch(.requested(other, at: .now()))
        let later = try await page.waitFor("the other's request") { $0.data.contains(#""requestId":"r""#) }
        #expect((later.json["inFlight"] as? [[String: Any]])?.last?["expiresInMs"] == nil)
    }

    @Test(arguments: [
        (#"{"location":{"latitude":95,"longitude":139.7}}"#, "location.latitude"),
        (#"{"operation":"details"}"#, "placeId"),
        (#"[1,2"#, "value"),
        ("", "value"),
    ])
    func `A page is told which member is wrong`(body: String, member: String) async throws {
        let console = try await RunningConsole()
        let answer = try await console.post("/api/sessions/s/requests", body)

        #expect(answer.status == 400)
        #expect((answer.json["error"] as? [String: Any])?["member"] as? String == member, "\(answer.body)")
        #expect(console.backend.state.withLock { $0.sent.isEmpty })
    }

    @Test func `A request that Kafka rejects is not in flight`() async throws {
        let console = try await RunningConsole()
        console.backend.state.withLock { $0.refusal = ConsoleError(.unavailable, "no broker") }
        let answer = try await console.post("/api/sessions/s/requests", Self.search)

        #expect(answer.status == 503)
        #expect(answer.problem == "no broker")
        #expect(console.store.state(of: "s").inFlight.isEmpty)
    }

    @Test(arguments: ["/api/sessions/%FF/events", "/api/sessions/\(String(repeating: "x", count: 129))/events"])
    func `A session without a valid name is rejected`(path: String) async throws {
        let console = try await RunningConsole()
        let answer = try await console.get(path)

        #expect(answer.status == 400)
    }

    @Test(.timeLimit(.minutes(1))) func `A page that does not read delays no other page`() async throws {
        let console = try await RunningConsole()
        let stuck = try EventStreamClient(port: console.port, path: "/api/sessions/s/events", receiveBuffer: 4096)
        let page = try EventStreamClient(port: console.port, path: "/api/sessions/s/events")
        try await page.waitFor("the first state") { $0.name == "state" }

        // Each search has two states. Together they are more than the buffers of a socket hold, so the stuck
        // client cannot have received them all.
        let count = 60
        for number in 1...count {
            console.search("r\(number)", place: String(repeating: "あ", count: 30_000) + "\(number)")
            let revision = console.store.state(of: "s").revision
            try await page.waitFor("state \(number)") { $0.json["revision"] as? Int == revision }
        }

        let newest = console.store.state(of: "s").revision
        let late = try await stuck.waitFor("the last state, late") { $0.json["revision"] as? Int == newest }
        #expect(late.data.contains("あ\(count)\""))
        let states = stuck.events.count { $0.name == "state" }
        #expect(states < newest, "it was spared the states that were old by the time it read")
    }
}

extension RunningConsole {
    /// Dispatches a newer search of session `s`, and its result.
    fileprivate func search(_ id: String, place name: String) {
        let request = SearchRequest(requestID: id, location: Coordinate(latitude: 1, longitude: 1), sessionID: "s")
        store.dispatch(.requested(request, at: .now()))
        store.dispatch(.outcome(SessionRoutesTests.result(of: request, place: name)))
    }
}
