@testable import EventContract
import Foundation
@testable import LocationSearch
import SessionState
import Testing

struct MemoryTests {
    /// Set `LOCSEARCH_SESSIONS` for more sessions.
    private static let sessions = ProcessInfo.processInfo.environment["LOCSEARCH_SESSIONS"].flatMap { Int($0) } ?? 1000

    /// 10,000 sessions of 100 places fit into 500 MB, as the module's page states.
    private static let bytesOfSession = 50_000

    /// Checks the memory of sessions with 100 places each, as a provider in Tokyo returns them.
    ///
    /// After the details of one place, the list differs from the result, so it needs separate memory.
    @Test func `Sessions of a hundred places stay within their memory`() throws {
        guard let before = Self.residentBytes else { return }
        let store = Store()
        let sessions = (0..<Self.sessions).map { "session-\($0)" }

        for session in sessions { dispatchSearch(of: session, to: store) }
        let searched = try #require(Self.residentBytes)
        for session in sessions { dispatchDetails(of: session, to: store) }
        let detailed = try #require(Self.residentBytes)

        #expect(store.sessionCount == sessions.count)
        #expect(store.state(of: "session-0").list?.places.count == 100)
        let (bytes, bytesWithDetails) = ((searched - before) / sessions.count, (detailed - before) / sessions.count)
        print("measured: memory of a session of 100 places: \(bytes) bytes, with details \(bytesWithDetails)")
        #expect(bytes <= Self.bytesOfSession)
        #expect(bytesWithDetails <= 2 * Self.bytesOfSession)
    }

    private func dispatchSearch(of session: String, to store: Store) {
        let id = "\(session)-0123456789-0123456789"
        let request = SearchRequest(requestID: id, location: .shinjuku, sessionID: session)
        let result = SearchOutcome.Result(
            places: Places((0..<100).lazy.map(place)), totalAvailable: 1234, nextPageToken: "1h.GNH4mcPC.101",
            attributions: ["Powered by an invented gourmet service"],
            search: .init(category: "restaurant", location: .shinjuku, radiusMeters: 2000))

        store.dispatch(.requested(request, at: Story.time(1)))
        store.dispatch(
            .outcome(
                OutcomeEvent(
                    requestID: id, operation: "search", provider: "hotpepper", sessionID: session,
                    body: .completed(result), receivedAt: Story.time(1), completedAt: Story.time(1), attempts: 1)))
    }

    private func dispatchDetails(of session: String, to store: Store) {
        let id = "\(session)-details-0123456789"
        let details = SearchOutcome.Result(places: [place(1)])
        store.dispatch(
            .outcome(
                OutcomeEvent(
                    requestID: id, operation: "details", provider: "hotpepper", sessionID: session,
                    body: .completed(details), receivedAt: Story.time(2), completedAt: Story.time(2), attempts: 1)))
    }

    private func place(_ number: Int) -> Place {
        Place(
            id: "J00\(1_234_567 + number)", provider: .hotpepper, name: "炭火焼 灯り屋 西口店", category: "居酒屋",
            types: ["居酒屋", "和食"], location: .shinjuku, distanceMeters: 75, address: "東京都新宿区西新宿0-0-0 灯りビル\(number)F",
            imageURL: "https://img.example/assets/pictures/P\(number)/J001234567.jpg",
            url: "https://www.example/shop/J001234567/\(number)")
    }

    /// The resident memory of this process; `nil` if the system does not provide it.
    private static var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return pages * 4096
    }
}
