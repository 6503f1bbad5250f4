internal import CScan
import LocationSearch

/// Decides which of a provider's URLs a result may contain; readers use them in links and pictures.
///
/// The contract allows only `http` and `https`, in lower case. URLs of other schemes (`javascript:`), without a scheme
/// (`//host`) or without a host are left out.
enum WebAddress {
    /// Returns whether the text is `http://` or `https://` followed by a host. The part after the host is not checked.
    static func isValid(_ text: Span<UInt8>) -> Bool {
        // This is safe because the buffer is used only within the call.
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
                // A browser treats a backslash as a slash. Blanks and control characters are invalid in an address.
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
