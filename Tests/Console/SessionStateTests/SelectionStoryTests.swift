import EventContract
import LocationSearch
import SessionState
import Testing

struct SelectionStoryTests {
    private func storyWithList() -> Story {
        var story = Story()
        story.search("a")
        story.finds("a", [.named("1"), .named("2")], credits: ["credit"])
        return story
    }

    @Test func `Details change the list and the selected place alike`() throws {
        var story = storyWithList()
        story.details("d", of: "2")
        #expect(story.state.selected?.isLoading == true && story.state.selected?.hasDetails == false)
        #expect(story.state.selected?.place?.name == "name of 2", "what the list knows is shown meanwhile")

        var details = Place.named("2", distance: nil)
        details.name = "its full name"
        details.address = "address"
        story.tells("d", details, credits: ["credit of details"])

        let selected = try #require(story.state.selected)
        #expect(!selected.isLoading && selected.hasDetails)
        #expect(selected.place?.name == "its full name" && selected.place?.address == "address")
        #expect(selected.place?.distanceMeters == 75, "the distance is the search's")
        #expect(selected.place == story.state.list?.places.first { $0.id == "2" })
        #expect(selected.attributions == ["credit", "credit of details"])
        #expect(story.state.list?.places.map(\.id) == ["1", "2"])
    }

    @Test func `A picture is shown in the list and the selected place`() {
        var story = storyWithList()
        story.photo("p", of: "1")
        #expect(story.state.selected?.isLoading == true)

        story.shows("p", picture: "https://img.example/1.jpg")
        #expect(story.state.selected?.imageURL == "https://img.example/1.jpg")
        #expect(story.state.selected?.hasDetails == false && story.state.selected?.isLoading == false)
        #expect(story.state.list?.places.map(\.imageURL) == ["https://img.example/1.jpg", nil])
    }

    @Test func `A request about another place selects it`() {
        var story = storyWithList()
        story.details("d", of: "1")
        story.fails("d", "timeout", isRetryable: true)
        #expect(story.state.error?.operation == .details)

        story.photo("p", of: "2")
        #expect(story.state.selected?.id == "2")
        #expect(story.state.error == nil, "the failure is about a place that is not selected any more")
    }

    @Test func `A newer search ends the selection`() {
        var story = storyWithList()
        story.details("d", of: "1")
        story.search("b")
        #expect(story.state.selected == nil)
        #expect(story.state.inFlight.map(\.requestID) == ["d", "b"])

        var details = Place.named("1")
        details.address = "address"
        story.tells("d", details)
        #expect(story.state.selected == nil)
        #expect(story.state.list?.places.first?.address == "address", "the older list still knows the place better now")
    }

    @Test func `Details that failed and then succeeded have no error`() {
        var story = storyWithList()
        story.details("d", of: "1")
        story.fails("d", "not-found")
        #expect(story.state.error?.remedy == .searchAgain && story.state.selected?.hasDetails == false)

        story.details("e", of: "1")
        #expect(story.state.error == nil)
        story.tells("e", .named("1"))
        #expect(story.state.error == nil && story.state.selected?.hasDetails == true)
    }

    @Test func `A place that is in no list is known from its details`() {
        var story = Story()
        story.details("d", of: "7")
        #expect(story.state.selected?.place == nil && story.state.selected?.provider == .hotpepper)

        story.tells("d", .named("7", distance: nil))
        story.photo("p", of: "7")
        story.shows("p", picture: "https://img.example/7.jpg")
        #expect(story.state.selected?.place?.name == "name of 7")
        #expect(story.state.selected?.place?.imageURL == "https://img.example/7.jpg")
        #expect(story.state.selected?.hasDetails == true)
    }

    @Test func `A provider that the request leaves open is the list's`() {
        var story = storyWithList()
        story.details("d", of: "2", provider: .auto)
        #expect(story.state.selected?.provider == .hotpepper && story.state.selected?.place?.id == "2")
    }

    static let remedies: [(String, Bool, Duration?, SessionState.Failure.Remedy)] = [
        ("timeout", true, nil, .retry),
        ("rate-limited", true, .seconds(1), .wait),
        ("invalid-request", false, nil, .changeRequest),
        ("unauthorized", false, .seconds(300), .askOperator),
        ("upstream-rejected", false, nil, .askOperator),
        ("not-found", false, nil, .searchAgain),
        ("expired", false, nil, .searchAgain),
        ("of-a-newer-worker", true, nil, .retry),
        ("of-a-newer-worker", false, nil, .askOperator),
    ]
    @Test(arguments: remedies)
    func `Each failure has a remedy`(
        code: String, isRetryable: Bool, retryAfter: Duration?, remedy: SessionState.Failure.Remedy
    ) {
        var story = Story()
        story.search("a")
        story.fails("a", code, isRetryable: isRetryable, retryAfter: retryAfter)
        #expect(story.state.error?.remedy == remedy)
        #expect(story.state.error?.message == "about a" && story.state.error?.request?.requestID == "a")
    }
}
