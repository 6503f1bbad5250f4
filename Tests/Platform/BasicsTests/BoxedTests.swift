import Basics
import Testing

struct BoxedTests {
    private struct Holder: Hashable, Sendable {
        @Boxed var text: String
    }

    @Test func aCopyKeepsWhatItHadWhenTheOtherChanges() {
        let first = Holder(text: "a")
        var second = first
        second.text = "b"
        #expect(first.text == "a" && second.text == "b")
    }

    @Test func boxesAreComparedByWhatTheyHold() {
        #expect(Holder(text: "a") == Holder(text: "a"))
        #expect(Holder(text: "a") != Holder(text: "b"))
        #expect(Set([Holder(text: "a"), Holder(text: "a"), Holder(text: "b")]).count == 2)
    }

    @Test func aBoxTakesOnePointer() {
        #expect(MemoryLayout<Boxed<(Int, Int, Int)>>.size == MemoryLayout<Int>.size)
    }
}
