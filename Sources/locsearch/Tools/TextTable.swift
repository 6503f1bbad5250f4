/// A table for a terminal: columns as wide as what is in them, counted as the terminal shows it.
struct TextTable {
    enum Alignment { case left, right }

    struct Column {
        let title: String
        var alignment = Alignment.left
        /// Longer texts are cut, with an ellipsis.
        var maxWidth = 60
    }

    let columns: [Column]
    private var rows: [[String]] = []

    init(_ columns: [Column]) { self.columns = columns }

    mutating func add(_ cells: [String]) {
        rows.append(zip(cells, columns).map { TerminalText.cut(TerminalText.safe($0), to: $1.maxWidth) })
    }

    /// Title line and rows; columns in which nothing stands are left out.
    var lines: [String] {
        let shown = columns.indices.filter { index in rows.contains { !$0[index].isEmpty } }
        let widths = shown.map { index in
            rows.reduce(TerminalText.width(of: columns[index].title)) { max($0, TerminalText.width(of: $1[index])) }
        }
        func line(_ cells: [String]) -> String {
            var line = ""
            for (position, index) in shown.enumerated() {
                let cell = cells[index]
                let padding = String(repeating: " ", count: widths[position] - TerminalText.width(of: cell))
                line +=
                    (position == 0 ? "" : "  ") + (columns[index].alignment == .left ? cell + padding : padding + cell)
            }
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
        return [line(columns.map(\.title))] + rows.map(line)
    }
}

/// Text as a terminal shows it.
enum TerminalText {
    /// Columns that a text takes: 2 for East Asian wide characters and emoji, 0 for combining marks.
    static func width(of text: String) -> Int { text.reduce(0) { $0 + width(of: $1) } }

    static func width(of character: Character) -> Int {
        var width = 0
        for scalar in character.unicodeScalars {
            if scalar.value == 0xFE0F { return 2 }  // the mark that asks for the emoji form
            width = max(width, Self.width(of: scalar))
        }
        return width
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        return switch scalar.value {
        // Unicode's EastAsianWidth.txt: the blocks of class W and F.
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF,
            0x20000...0x3FFFD:
            2
        default: 1
        }
    }

    /// At most `width` columns, with an ellipsis in place of what is cut off.
    static func cut(_ text: String, to width: Int) -> String {
        guard Self.width(of: text) > width else { return text }
        var (result, used) = ("", 0)
        for character in text {
            let next = Self.width(of: character)
            guard used + next < width else { break }
            result.append(character)
            used += next
        }
        return result + "…"
    }

    /// Without what could move the cursor, recolour the terminal or turn the line around: names come from strangers.
    static func safe(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: result.append(" ")
            case .format where scalar.value != 0x200D: break  // all but the joiner within emoji
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
