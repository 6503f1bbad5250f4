import EventContract
import LocationSearch
import SessionState
import Testing

struct SearchStoryTests {

    @Test func `A search is in flight until its places come`() {
        var story = Story()
        story.search("a", category: "hospital")

        #expect(story.state.search?.status == .inFlight)
        #expect(story.state.search?.category == "hospital")
        #expect(story.state.inFlight.map(\.requestID) == ["a"])
        #expect(story.state.list == nil)

        story.finds("a", [.named("1"), .named("2")], total: 70, credits: ["credit"])
        #expect(story.state.search?.status == .completed)
        #expect(story.state.inFlight.isEmpty)
        let list = story.state.list
        #expect(list?.places.map(\.id) == ["1", "2"])
        #expect(list?.totalAvailable == 70 && list?.attributions == ["credit"] && list?.provider == "hotpepper")
        #expect(list?.search?.radiusMeters == 2000, "the radius is the one that the provider used")
        #expect(list?.isSuperseded == false)
    }

    @Test func `A result without places is a list and no error`() {
        var story = Story()
        story.search("a")
        story.finds("a")
        #expect(story.state.list?.places.isEmpty == true)
        #expect(story.state.error == nil)
    }

    @Test func `An older list stays while a newer search is in flight or failed`() {
        var story = Story()
        story.search("a")
        story.finds("a", [.named("1")])
        story.search("b")
        #expect(story.state.list?.requestID == "a" && story.state.list?.isSuperseded == true)
        #expect(story.state.search?.requestID == "b")

        story.fails("b", "timeout", isRetryable: true)
        #expect(story.state.list?.requestID == "a" && story.state.list?.isSuperseded == true)
        #expect(story.state.error?.code == "timeout" && story.state.error?.operation == .search)

        story.search("c")
        #expect(story.state.error == nil, "a newer search is under way, so the older one's failure is of no use")
        story.finds("c", [.named("2")])
        #expect(story.state.list?.places.map(\.id) == ["2"] && story.state.list?.isSuperseded == false)
        #expect(story.state.error == nil)
    }

    @Test func `A result that comes after a newer one is not shown`() {
        var story = Story()
        story.search("a")
        story.search("b")
        story.finds("b", [.named("new")])
        #expect(story.state.inFlight.isEmpty, "nobody waits for the older search any more")

        let before = story.state
        story.finds("a", [.named("old")])
        #expect(story.state == before)
        #expect(story.state.revision == before.revision)
    }

    @Test func `A superseded search is no error`() {
        var story = Story()
        story.search("a")
        story.fails("a", "superseded")
        #expect(story.state.search?.status == .failed)
        #expect(story.state.error == nil)
    }

    @Test func `A result counts rather than the error of the same request`() {
        var story = Story()
        story.search("a")
        story.finds("a", [.named("1")])
        story.fails("a", "superseded")
        #expect(story.state.list?.places.map(\.id) == ["1"])
        #expect(SessionState(after: story.actions.reversed()) == story.state)
    }

    @Test func `An outcome without its request is shown`() {
        var story = Story()
        story.search("a")
        story.losesLastAction()
        story.finds("a", [.named("1")])

        #expect(story.state.list?.places.map(\.id) == ["1"])
        #expect(story.state.search?.request == nil && story.state.search?.radiusMeters == 2000)
    }

    // MARK: Pages

    @Test func `Pages are appended without repeated places`() {
        var story = Story()
        story.search("a")
        story.finds("a", [.named("1"), .named("2")], next: "second", total: 5, credits: ["credit"])
        story.search("b", page: "second")
        #expect(story.state.list?.isSuperseded == false, "a further page belongs to the list")
        #expect(story.state.search?.requestID == "a" && story.state.inFlight.first?.request.pageToken != nil)

        story.finds("b", [.named("2"), .named("3")], next: "third", credits: ["credit", "other"])
        let list = story.state.list
        #expect(list?.places.map(\.id) == ["1", "2", "3"])
        #expect(list?.requestID == "a" && list?.nextPageToken == "third" && list?.totalAvailable == 5)
        #expect(list?.attributions == ["credit", "other"])
    }

    @Test func `A failed page is an error and keeps the list`() {
        var story = Story()
        story.search("a")
        story.finds("a", [.named("1")], next: "second")
        story.search("b", page: "second")
        story.fails("b", "timeout", isRetryable: true)
        #expect(story.state.error?.request?.pageToken == "second", "so that it can be sent again")
        #expect(story.state.list?.isSuperseded == false && story.state.list?.nextPageToken == "second")

        story.search("c", page: "second")
        story.finds("c", [.named("2")])
        #expect(story.state.error == nil)
        #expect(story.state.list?.places.map(\.id) == ["1", "2"] && story.state.list?.nextPageToken == nil)
    }

    @Test func `A page of an older search is not appended to a newer one`() {
        var story = Story()
        story.search("a")
        story.finds("a", [.named("1")], next: "second")
        story.search("b", page: "second")
        story.search("c")
        story.finds("c", [.named("9")], next: "second")
        story.finds("b", [.named("2")])
        #expect(story.state.list?.places.map(\.id) == ["9"])
    }

    @Test func `Page tokens that repeat end the list`() {
        var story = Story()
        story.search("a")
        story.finds("a", [.named("1")], next: "again")
        story.search("b", page: "again")
        story.finds("b", [.named("2")], next: "again")
        #expect(story.state.list?.places.map(\.id) == ["1", "2"])
    }
}
