enum TerminalText {
    /// Returns the number of columns that a text occupies: 2 for East Asian wide characters and emoji, 0 for combining
    /// marks.
    static func width(of text: String) -> Int { text.reduce(0) { $0 + width(of: $1) } }

    /// Returns the number of columns that a character occupies.
    static func width(of character: Character) -> Int {
        var width = 0
        for scalar in character.unicodeScalars {
            // This variation selector gives the preceding character its emoji form, which is wide.
            if scalar.value == 0xFE0F { return 2 }
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
        // The blocks of classes W and F in Unicode's EastAsianWidth.txt.
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF,
            0x20000...0x3FFFD:
            2
        default: 1
        }
    }

    /// Returns at most `width` columns of the text. An ellipsis replaces the rest.
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

    /// Removes characters that could move the cursor, recolour the terminal or reverse the line, because texts such as
    /// the names of places come from outside.
    static func safe(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: result.append(" ")
            // The zero-width joiner is kept, because emoji contain it.
            case .format where scalar.value != 0x200D: break
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}

/// Formats counts for display.
extension BinaryInteger {
    /// The number with grouped digits: `1,204,000`.
    var grouped: String {
        let digits = Array("\(magnitude)")
        let text = digits.enumerated().map { index, digit in
            index > 0 && (digits.count - index) % 3 == 0 ? ",\(digit)" : "\(digit)"
        }
        return (self < 0 ? "-" : "") + text.joined()
    }

    /// Returns the number with a noun: `1 request`, `1,204 requests`.
    func counted(_ thing: String) -> String { "\(grouped) \(thing)\(self == 1 ? "" : "s")" }
}
