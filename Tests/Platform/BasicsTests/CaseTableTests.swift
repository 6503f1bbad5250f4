import Basics
import Testing

struct CaseTableTests {
    private enum Season: String, CaseIterable {
        case spring, summer, autumn, winter
    }

    @Test func `Each case has its own value`() {
        let table = CaseTable<Season, String> { $0.rawValue.uppercased() }
        #expect(Season.allCases.map { table[$0] } == ["SPRING", "SUMMER", "AUTUMN", "WINTER"])
    }
}
