import Kafka
import Synchronization
import TestSupport

/// A minimal broker that answers ApiVersions and Metadata (version 8), with the client's rights.
final class PlayedBroker: Sendable {
    /// The port of the server, which the broker reports as its own.
    private let port = Atomic<Int32>(0)
    private static let (metadata, versions): (Int16, Int16) = (3, 18)

    /// The rights on each topic.
    private let rights: [String: Set<TopicOperation>]

    init(rights: [String: Set<TopicOperation>]) { self.rights = rights }

    /// Sets the port of the server that calls `serve`.
    func isReached(at port: UInt16) { self.port.store(Int32(port), ordering: .relaxed) }

    /// Answers each request until the peer closes, or sends an unknown request.
    func serve(_ connection: RawConnection) {
        var received: [UInt8] = []
        while let bytes = connection.receive(atMost: 65_536) {
            received += bytes
            while received.count >= 4 {
                let size = received[..<4].reduce(0) { $0 << 8 | Int($1) }
                guard received.count >= 4 + size else { break }
                guard let answer = answer(to: Array(received[4..<4 + size])) else { return }
                connection.send(Self.number(Int32(answer.count)) + answer)
                received.removeFirst(4 + size)
            }
        }
    }

    private func answer(to request: [UInt8]) -> [UInt8]? {
        guard request.count >= 8 else { return nil }
        let (kind, version) = (Int16(request[0]) << 8 | Int16(request[1]), Int16(request[2]) << 8 | Int16(request[3]))
        let head = Array(request[4..<8])
        switch kind {
        case Self.versions:
            // Newer versions are rejected, and the client then asks with the oldest.
            let taken: [(Int16, Int16)] = [(Self.metadata, 8), (Self.versions, 0)]
            let list = taken.flatMap { Self.number($0.0) + Self.number(Int16(0)) + Self.number($0.1) }
            return head + Self.number(Int16(version == 0 ? 0 : 35)) + Self.number(Int32(taken.count)) + list
        case Self.metadata where version == 8:
            // A topic's name is in the request only if the request is about that topic.
            let text = String(decoding: request, as: UTF8.self)
            let named = rights.filter { text.contains($0.key) }
            return head + cluster(named.isEmpty ? rights : named)
        default: return nil
        }
    }

    private func cluster(_ rights: [String: Set<TopicOperation>]) -> [UInt8] {
        let port = port.load(ordering: .relaxed)
        let nobody = Self.number(Int16(-1))
        let broker = Self.number(Int32(1)) + Self.text("127.0.0.1") + Self.number(port) + nobody
        let head = Self.number(Int32(0)) + Self.number(Int32(1)) + broker + nobody + Self.number(Int32(1))

        let topics = rights.sorted { $0.key < $1.key }.flatMap { name, operations in
            let one = Self.number(Int32(1)) + Self.number(Int32(1))
            let place = Self.number(Int16(0)) + Self.number(Int32(0)) + Self.number(Int32(1)) + Self.number(Int32(0))
            let partition = place + one + one + Self.number(Int32(0))
            let bits = operations.reduce(Int32(0)) { $0 | 1 << Int32($1.rawValue) }
            return Self.number(Int16(0)) + Self.text(name) + [0] + Self.number(Int32(1)) + partition + Self.number(bits)
        }
        return head + Self.number(Int32(rights.count)) + topics + Self.number(Int32.min)
    }

    private static func text(_ text: String) -> [UInt8] { number(Int16(text.utf8.count)) + Array(text.utf8) }

    private static func number(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
