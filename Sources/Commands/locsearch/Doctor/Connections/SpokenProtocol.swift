internal import Basics
import Kafka

enum SpokenProtocol: Sendable, Hashable {
    /// Kafka without TLS.
    /// - mechanisms: the login mechanisms that are offered if a login is required; `nil` if none is required.
    case kafka(BrokerRequests, mechanisms: [String]?)
    case tls
    case http
    /// The answer belongs to no known protocol.
    case other
    /// The connection is closed without an answer to any request.
    case closing
    case silent

    /// Detects the protocol of a server. Blocks its thread for up to four times `timeout`.
    /// - Parameter mechanism: the login mechanism to try if a login is required.
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
            // TLS servers often close the connection after bytes that they cannot parse.
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

    // MARK: - Requests and answers

    private enum Answer: Hashable {
        case bytes([UInt8])
        case end
        case nothing
    }

    /// Sends requests one after another on a dedicated connection.
    /// - Returns: the answer to the last of them.
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
            // The first bytes are enough to recognise another protocol.
            let isPartOfAnswer = received.count < 8 || KafkaFrame.isBegin(received)
            if !isPartOfAnswer || TLSHello.isRecord(received) || KafkaFrame.body(of: received) != nil {
                return .bytes(received)
            }
        }
    }
}
