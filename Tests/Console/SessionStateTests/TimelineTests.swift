import SessionState
import Testing

struct TimelineTests {
    @Test func `A timeline has the state after each action`() {
        var story = Story()
        story.search("a")
        story.finds("a", [.named("1")])
        story.search("b")

        let timeline = Timeline(story.actions)
        #expect(timeline.steps.map(\.action) == story.actions)
        #expect(timeline.state(after: 0) == SessionState())
        #expect(timeline.state(after: 1).search?.status == .inFlight)
        #expect(timeline.state(after: 2).list?.isSuperseded == false)
        #expect(timeline.state(after: 3).list?.isSuperseded == true)
        #expect(timeline.state(after: 99) == timeline.state && timeline.state(after: -1) == timeline.start)
    }
}
