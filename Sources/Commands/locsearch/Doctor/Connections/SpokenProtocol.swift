internal import Basics
import Kafka

enum SpokenProtocol: Sendable, Hashable {
    /// Kafka's without TLS.
    /// - mechanisms: the ways to log in that are offered, where a login is wanted; `nil` where none is.
    case kafka(BrokerRequests, mechanisms: [String]?)
    case tls
    case http
    /// The bytes of an answer are of no protocol that is known here.
    case other
    /// Whatever is said, the connection is closed without an answer.
    case closing
    case silent

    /// Finds out what is spoken there. Holds its thread for up to four times `timeout`.
    /// - Parameter mechanism: the way to log in that is to be tried, where a login is wanted.
    static func find(
        at address: NetworkAddress, of host: String, mechanism: String?, within timeout: Duration
    ) -> SpokenProtocol {
        let first = answer(to: [KafkaFrame.versionsRequest], at: address, within: timeout)
        switch first {
        case .bytes(let bytes):
            if let requests = KafkaFrame.body(of: bytes).flatMap(KafkaFrame.versions) {
                return kafka(requests, at: address, mechanism: mechanism, within: timeout)
            }
            if bytes.starts(with: "HTTP".utf8) { return .http }
            if !TLSHello.isRecord(bytes) { return .other }
            return .tls
        case .end, .nothing:
            // Servers of TLS often close on whom they do not understand.
            let second = answer(to: [TLSHello.bytes(to: host)], at: address, within: timeout)
            if case .bytes(let bytes) = second {
                return TLSHello.isRecord(bytes) ? .tls : bytes.starts(with: "HTTP".utf8) ? .http : .other
            }
            return second == .end || first == .end ? .closing : .silent
        }
    }

    private static func kafka(
        _ requests: BrokerRequests, at address: NetworkAddress, mechanism: String?, within timeout: Duration
    ) -> SpokenProtocol {
        let open = answer(
            to: [KafkaFrame.versionsRequest, KafkaFrame.metadataRequest], at: address, within: timeout)
        if case .bytes = open { return .kafka(requests, mechanisms: nil) }

        let version = min(1, requests[.saslHandshake]?.upperBound ?? 0)
        let login = answer(
            to: [KafkaFrame.versionsRequest, KafkaFrame.handshakeRequest(mechanism ?? "PLAIN", version: version)],
            at: address, within: timeout)
        guard case .bytes(let bytes) = login else { return .kafka(requests, mechanisms: []) }
        return .kafka(requests, mechanisms: KafkaFrame.body(of: bytes).flatMap(KafkaFrame.mechanisms) ?? [])
    }

    // MARK: - Question and answer

    private enum Answer: Hashable {
        case bytes([UInt8])
        case end
        case nothing
    }

    /// Says one thing after another on a connection of its own.
    /// - Returns: The answer to the last of them.
    private static func answer(
        to questions: [[UInt8]], at address: NetworkAddress, within timeout: Duration
    ) -> Answer {
        let deadline = Instant.now + timeout
        guard let connection = try? ProbeConnection(to: address, before: deadline) else { return .end }

        var last = Answer.nothing
        for question in questions {
            guard connection.send(question) else { return .end }
            last = answer(on: connection, before: deadline)
            guard case .bytes = last else { return last }
        }
        return last
    }

    private static func answer(on connection: ProbeConnection, before deadline: Instant) -> Answer {
        var received: [UInt8] = []
        while true {
            guard let bytes = connection.receive(before: deadline) else {
                return received.isEmpty ? .nothing : .bytes(received)
            }
            if bytes.isEmpty { return received.isEmpty ? .end : .bytes(received) }

            received += bytes
            // Of another protocol, the first bytes tell which.
            let isPartOfAnswer = received.count < 8 || KafkaFrame.isBegin(received)
            if !isPartOfAnswer || TLSHello.isRecord(received) || KafkaFrame.body(of: received) != nil {
                return .bytes(received)
            }
        }
    }
}
