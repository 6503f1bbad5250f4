import Basics
import Testing

struct BoxedTests {
    private struct Holder: Hashable, Sendable {
        @Boxed var text: String
    }

    @Test func `A copy keeps what it had when the other changes`() {
        let first = Holder(text: "a")
        var second = first
        second.text = "b"
        #expect(first.text == "a" && second.text == "b")
    }

    @Test func `Boxes are compared by what they hold`() {
        #expect(Holder(text: "a") == Holder(text: "a"))
        #expect(Holder(text: "a") != Holder(text: "b"))
        #expect(Set([Holder(text: "a"), Holder(text: "a"), Holder(text: "b")]).count == 2)
    }

    @Test func `A box takes one pointer`() {
        #expect(MemoryLayout<Boxed<(Int, Int, Int)>>.size == MemoryLayout<Int>.size)
    }
}
