/// The state in which a connection to a broker ended.
struct ConnectionEnd: Sendable, Hashable {
    /// librdkafka's name for the state, such as `SSL_HANDSHAKE`.
    let state: String
    /// How long the connection had been in that state.
    let milliseconds: Int
}

extension ConnectionEnd {
    /// Parses text that begins like `2ms in state SSL_HANDSHAKE`.
    init?(_ text: Substring) {
        guard let unit = text.firstRange(of: "ms in state "), let time = Int(text[..<unit.lowerBound]) else {
            return nil
        }
        state = String(text[unit.upperBound...].prefix { $0.isUppercase || $0 == "_" })
        milliseconds = time
    }
}
