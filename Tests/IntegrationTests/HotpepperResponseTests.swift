import HTTPTransport
import LocationSearch
import PlaceProviders
import TestSupport
import Testing

/// The members of results for smaller Hot Pepper answers: the simulator's answers over TCP.
@Suite(.timeLimit(.minutes(1)))
struct HotpepperResponseTests {
    /// Returns a place without the members that `lite` omits.
    private func lite(_ place: Place) -> Place {
        var place = place
        place.types = Array(place.types.prefix(1))
        return place
    }

    @Test func `A lite answer lacks only the sub-genre`() async throws {
        try await ProviderFixture.run { fixture in
            let lite = HotpepperService(http: fixture.http, configuration: fixture.configuration)
            let full = HotpepperService(http: fixture.http, configuration: fixture.configuration, response: .full)

            let short = try await fixture.ask(lite, ProviderFixture.search(limit: 100))
            let shortBytes = try #require(fixture.http.takeSeen().bytes.first)
            let long = try await fixture.ask(full, ProviderFixture.search(limit: 100))
            let longBytes = try #require(fixture.http.takeSeen().bytes.first)

            #expect(short.places.count == 100)
            #expect(long.places.contains { $0.types.count == 2 })
            #expect(Array(short.places) == long.places.map { self.lite($0) })
            #expect(short.attributions == long.attributions)
            #expect(short.totalAvailable == long.totalAvailable)
            #expect(short.nextPageToken == long.nextPageToken)
            #expect(short.unreadablePlaces == 0)
            #expect(shortBytes * 3 < longBytes, "\(shortBytes) \(longBytes)")
        }
    }

    @Test func `Details follow the setting and photos always ask for everything`() async throws {
        try await ProviderFixture.run { fixture in
            let lite = HotpepperService(http: fixture.http, configuration: fixture.configuration)
            let full = HotpepperService(http: fixture.http, configuration: fixture.configuration, response: .full)
            let found = try await fixture.ask(full, ProviderFixture.search())
            let place = try #require(found.places.first { $0.types.count == 2 })
            _ = fixture.http.takeSeen()

            #expect(try await Array(fixture.ask(lite, ProviderFixture.details(place.id)).places) == [self.lite(place)])
            #expect(try await Array(fixture.ask(full, ProviderFixture.details(place.id)).places) == [place])
            #expect(fixture.http.takeSeen().requests.map { $0.url.contains("&type=lite") } == [true, false])

            #expect(try await fixture.ask(lite, ProviderFixture.photo(place.id)).photoURL == place.imageURL)
            #expect(try await fixture.ask(full, ProviderFixture.photo(place.id)).photoURL == place.imageURL)
            #expect(fixture.http.takeSeen().requests.allSatisfy { !$0.url.contains("type=") })
        }
    }
}
