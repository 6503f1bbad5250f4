import Basics
import Testing

/// Boxes and tables of values.
struct ContainerTests {
    private struct Holder: Hashable, Sendable {
        @Boxed var text: String
    }

    @Test func `A copy keeps its value when the other changes`() {
        let first = Holder(text: "a")
        var second = first
        second.text = "b"
        #expect(first.text == "a" && second.text == "b")
    }

    @Test func `Boxes are compared by their values`() {
        #expect(Holder(text: "a") == Holder(text: "a"))
        #expect(Holder(text: "a") != Holder(text: "b"))
        #expect(Set([Holder(text: "a"), Holder(text: "a"), Holder(text: "b")]).count == 2)
    }

    @Test func `A box has the size of a pointer`() {
        #expect(MemoryLayout<Boxed<(Int, Int, Int)>>.size == MemoryLayout<Int>.size)
    }

    private enum Season: String, CaseIterable {
        case spring, summer, autumn, winter
    }

    @Test func `Each case has its own value`() {
        let table = CaseTable<Season, String> { $0.rawValue.uppercased() }
        #expect(Season.allCases.map { table[$0] } == ["SPRING", "SUMMER", "AUTUMN", "WINTER"])
    }
}
