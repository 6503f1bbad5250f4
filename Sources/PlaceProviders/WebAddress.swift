import LocationSearch

/// Tells which of a provider's URLs a result may hold: whoever reads it puts them into links and pictures.
///
/// The contract has `http` and `https` only, in lower case. A URL of another scheme (`javascript:`), one that takes its scheme
/// from the page around it (`//host`), and one without a host are left out.
enum WebAddress {
    /// Returns true for `http://` or `https://` with a host behind it. What comes behind the host is not looked at.
    static func isValid(_ text: Span<UInt8>) -> Bool {
        guard let start = authorityStart(of: text) else { return false }

        var (index, host) = (start, start)
        scanning: while index < text.count {
            switch text[index] {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break scanning
            case UInt8(ascii: "@"): host = index + 1
            // A browser takes a backslash for a slash. Blanks and control characters belong into no address.
            case ...0x20, 0x7F, UInt8(ascii: "\\"): return false
            default: break
            }
            index += 1
        }
        return host < index && text[host] != UInt8(ascii: ":")
    }

    static func isValid(_ text: String) -> Bool { isValid(text.utf8.span) }

    /// Returns the place behind the scheme and its slashes; `nil` for any other scheme.
    private static func authorityStart(of text: Span<UInt8>) -> Int? {
        guard text.count >= 8, text[0] == UInt8(ascii: "h"), text[1] == UInt8(ascii: "t"), text[2] == UInt8(ascii: "t"),
            text[3] == UInt8(ascii: "p")
        else { return nil }

        let colon = text[4] == UInt8(ascii: "s") ? 5 : 4
        let isComplete =
            text[colon] == UInt8(ascii: ":") && text[colon + 1] == UInt8(ascii: "/")
            && text[colon + 2] == UInt8(ascii: "/")
        return isComplete ? colon + 3 : nil
    }
}
