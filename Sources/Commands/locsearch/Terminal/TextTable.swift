/// A table for a terminal, whose columns fit their content. Widths are counted in terminal columns.
struct TextTable {
    enum Alignment { case left, right }

    struct Column: ExpressibleByStringLiteral {
        let title: String
        var alignment = Alignment.left
        /// The maximum width of a text in terminal columns. Longer texts are cut, with an ellipsis.
        var maxWidth = 60

        static func left(_ title: String, maxWidth: Int) -> Column { Column(title: title, maxWidth: maxWidth) }
        static func right(_ title: String) -> Column { Column(title: title, alignment: .right) }
    }

    let columns: [Column]
    private var rows: [[String]] = []

    init(_ columns: [Column]) { self.columns = columns }

    /// Adds a row. Control characters in its cells are replaced.
    mutating func add(_ cells: [String]) {
        rows.append(zip(cells, columns).map { TerminalText.cut(TerminalText.safe($0), to: $1.maxWidth) })
    }

    /// The title line, and a line for each row. Empty columns are left out.
    var lines: [String] {
        let shown = columns.indices.filter { index in rows.contains { !$0[index].isEmpty } }
        let widths = shown.map { index in
            rows.reduce(TerminalText.width(of: columns[index].title)) { max($0, TerminalText.width(of: $1[index])) }
        }

        func line(_ cells: [String]) -> String {
            let padded = zip(shown, widths).map { index, width in
                Self.pad(cells[index], to: width, alignment: columns[index].alignment)
            }
            let line = padded.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
        return [line(columns.map(\.title))] + rows.map { line($0) }
    }

    private static func pad(_ cell: String, to width: Int, alignment: Alignment) -> String {
        let padding = String(repeating: " ", count: max(0, width - TerminalText.width(of: cell)))
        return alignment == .left ? cell + padding : padding + cell
    }
}

extension TextTable.Column {
    init(stringLiteral title: String) { self.init(title: title) }
}
