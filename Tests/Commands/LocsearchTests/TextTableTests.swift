import Testing

@testable import locsearch

struct TextTableTests {
    @Test(arguments: [
        ("abc", 3), ("日本", 4), ("ﾊﾝｶｸ", 4), ("Ｋｉ", 4), ("e\u{301}", 1), ("🍜", 2), ("👨‍👩‍👧", 2), ("❤️", 2), ("한글", 4),
        ("", 0),
        ("—", 1),
    ])
    func `A text's width is the one in a terminal`(text: String, width: Int) {
        #expect(TerminalText.width(of: text) == width)
    }

    @Test(arguments: [("abcdef", 4, "abc…"), ("日本語", 4, "日…"), ("日本語", 6, "日本語"), ("abc", 3, "abc")])
    func `A table cuts long text`(text: String, width: Int, expected: String) {
        #expect(TerminalText.cut(text, to: width) == expected)
        #expect(TerminalText.width(of: TerminalText.cut(text, to: width)) <= width)
    }

    @Test(arguments: [
        ("\u{1B}[31mred", " [31mred"), ("a\nb", "a b"), ("a\u{202E}b", "ab"), ("👨‍👩‍👧", "👨‍👩‍👧"), ("\u{9B}x", " x"),
    ])
    func `Names cannot control the terminal`(text: String, expected: String) {
        #expect(TerminalText.safe(text) == expected)
    }

    @Test func `Columns are aligned with their titles`() {
        var table = TextTable(["name", "empty", .right("n")])
        table.add(["日本", "", "5"])
        table.add(["abcdef", "", "10"])
        #expect(table.lines == ["name     n", "日本     5", "abcdef  10"])
    }
}
