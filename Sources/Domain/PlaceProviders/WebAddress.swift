internal import CScan
import LocationSearch

/// Tells which of a provider's URLs a result may hold: readers put them into links and pictures.
///
/// The contract has `http` and `https` only, in lower case. A URL of another scheme (`javascript:`), one that takes its scheme
/// from the page around it (`//host`), and one without a host are left out.
enum WebAddress {
    /// Returns true for `http://` or `https://` with a host behind it. What comes behind the host is not looked at.
    static func isValid(_ text: Span<UInt8>) -> Bool {
        // This is safe because the buffer is used within the call only.
        unsafe text.withUnsafeBufferPointer { text in
            guard let bytes = text.baseAddress else { return false }
            var host = unsafe locsearch_host_start(bytes, text.count)
            guard host > 0 else { return false }

            var index = host
            scanning: while true {
                index = unsafe locsearch_behind_host_name(bytes, index, text.count)
                guard index < text.count else { break }
                switch unsafe text[index] {
                case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break scanning
                case UInt8(ascii: "@"): host = index + 1
                // A browser takes a backslash for a slash. Blanks and control characters belong into no address.
                case ...0x20, 0x7F, UInt8(ascii: "\\"): return false
                default: break
                }
                index += 1
            }
            return unsafe host < index && text[host] != UInt8(ascii: ":")
        }
    }

    static func isValid(_ text: String) -> Bool { isValid(text.utf8.span) }
}
