internal import Basics
internal import Synchronization

/// The brokers that a client knows, and whether it can connect to each. It follows the connection states that
/// librdkafka reports. Safe to use from any thread.
///
/// librdkafka's event for "all brokers are down" is unreliable. librdkafka sends it when the last connection fails, and
/// only if the number of failed brokers then equals the number of known brokers. If a broker is being added at that
/// moment, such as a coordinator without an address yet, the event is never sent.
final class BrokerConnections: Sendable {
    private struct Connection {
        var isUp = false
        var isTrying = false
        /// True from a failed connection attempt until any broker answers.
        var hasFailed = false
        /// False for a coordinator, which is one of the brokers under a second name.
        let isBroker: Bool
    }
    private struct Connections {
        var byName: [String: Connection] = [:]
        var failedSince: Instant?
    }
    private let connections = Mutex(Connections())

    /// The instant since which connection attempts to all known brokers have failed, without any connection or answer
    /// in between. `nil` if at least one broker has not failed.
    var allFailedSince: Instant? { connections.withLock { $0.failedSince } }

    /// Records a state change of one broker, including its first state.
    /// - Parameters:
    ///   - name: The host; for a coordinator, librdkafka's name for it. Empty if the entry is not a broker.
    ///   - port: 0 for a coordinator.
    ///   - state: librdkafka's name for the state, such as `CONNECT`.
    func note(name: String, port: Int, state: String, at now: Instant) {
        guard !name.isEmpty else { return }

        let key = "\(name):\(port)"
        connections.withLock { connections in
            var connection = connections.byName[key] ?? Connection(isBroker: port != 0)
            switch state {
            case "INIT":
                // Also follows each failure, so it carries no information.
                break
            case "UP", "UPDATE":
                connection.isUp = true
                connection.isTrying = false
                connection.hasFailed = false
                for other in connections.byName.keys { connections.byName[other]?.hasFailed = false }
            case "DOWN":
                // A connection that was up may have been closed because it was idle, which is not a failure.
                if connection.isTrying { connection.hasFailed = true }
                connection.isUp = false
                connection.isTrying = false
            default:
                connection.isUp = false
                connection.isTrying = true
            }
            connections.byName[key] = connection

            let brokers = connections.byName.values.filter(\.isBroker)
            let haveAllFailed =
                !brokers.isEmpty && brokers.allSatisfy(\.hasFailed)
                && !connections.byName.values.contains(where: \.isUp)
            connections.failedSince = haveAllFailed ? connections.failedSince ?? now : nil
        }
    }
}

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
