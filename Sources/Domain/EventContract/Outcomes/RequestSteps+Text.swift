import JSON
import LocationSearch

/// The text of the header `request-steps`, such as
/// `topic 12; wait hotpepper 0+35; call hotpepper 35+154 upstream-unavailable 503; pause hotpepper 189+87; call hotpepper 276+61 ok`.
/// docs/events.md describes its grammar, and `OutcomeEvent.Steps` reads it.
extension RequestSteps {
    // A segment has at most the length of `; refused google-places-legacy 999999999+999999999 upstream-unavailable -32768`.
    private static let mostBytesOfStep = 80
    private static let mostBytesAround = 24

    /// The text, at most 1 KB.
    var text: [UInt8] {
        let count = first == nil ? 0 : others.count + 1
        return [UInt8](atMost: Self.mostBytesAround + count * Self.mostBytesOfStep) { text in
            if let topicWait {
                text.append(utf8: "topic ")
                text.append(milliseconds: topicWait.wholeNanoseconds)
            }
            guard let first else { return }
            first.write(to: &text)
            for index in others.indices {
                if areCut, index == others.count - 1 { text.append(utf8: "; ...") }
                others[index].write(to: &text)
            }
        }
    }
}

extension RequestStep {
    @_lifetime(text: copy text)
    fileprivate func write(to text: inout OutputSpan<UInt8>) {
        if text.count > 0 { text.append(utf8: "; ") }
        text.append(utf8: kind.rawValue)
        text.append(UInt8(ascii: " "))
        text.append(utf8: provider.rawValue)
        text.append(UInt8(ascii: " "))
        text.append(milliseconds: start)
        text.append(UInt8(ascii: "+"))
        text.append(milliseconds: duration)

        switch end {
        case .over: break
        case .answered: text.append(utf8: " ok")
        case .givenUp: text.append(utf8: " given-up")
        case .cancelled: text.append(utf8: " cancelled")
        case .failed(let code, let status):
            text.append(UInt8(ascii: " "))
            text.append(utf8: code.rawValue)
            // A provider may answer with any three digits; those from 600 are not HTTP statuses.
            if let status, (100...599).contains(status) {
                text.append(UInt8(ascii: " "))
                text.append(digitsOf: UInt64(status))  // bounded: checked above
            }
        }
    }
}

extension OutputSpan<UInt8> {
    @_lifetime(self: copy self)
    fileprivate mutating func append(utf8 text: String) {
        for byte in text.utf8 { append(byte) }
    }

    /// Appends whole milliseconds: 0 for negative times, and at most nine digits.
    @_lifetime(self: copy self)
    fileprivate mutating func append(milliseconds nanoseconds: Int64) {
        append(digitsOf: UInt64(min(max(nanoseconds, 0) / 1_000_000, 999_999_999)))  // bounded: between these two
    }
}
