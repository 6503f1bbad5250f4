internal import Basics
internal import Synchronization

/// The brokers that a client knows and whether each can be connected to, by the states that librdkafka goes through with
/// each. Safe to use from any thread.
///
/// librdkafka's event for "all brokers are down" cannot be relied on: it is sent when the last connection fails, and only if
/// the number of failed brokers equals that of the known ones at that instant. Where another one is being added just then,
/// such as a coordinator without an address yet, the event is never sent.
final class BrokerConnections: Sendable {
    private struct Connection {
        var isUp = false
        var isTrying = false
        /// True from a failed attempt to connect until any broker answers.
        var hasFailed = false
        /// False for a coordinator, which is one of the other brokers by another name.
        let isBroker: Bool
    }
    private struct Connections {
        var byName: [String: Connection] = [:]
        var failedSince: Instant?
    }
    private let connections = Mutex(Connections())

    /// Since when an attempt to connect to each known broker has failed, with none connected and no answer in between; `nil`
    /// where that is not so.
    var allFailedSince: Instant? { connections.withLock { $0.failedSince } }

    /// Notes a state of one broker, also the first one.
    /// - Parameters:
    ///   - name: The host; of a coordinator, what librdkafka calls it. Empty for what is no broker at all.
    ///   - port: 0 for a coordinator.
    ///   - state: librdkafka's name for the state, such as `CONNECT`.
    func note(name: String, port: Int, state: String, at now: Instant) {
        guard !name.isEmpty else { return }

        let key = "\(name):\(port)"
        connections.withLock { connections in
            var connection = connections.byName[key] ?? Connection(isBroker: port != 0)
            switch state {
            case "INIT":
                // Comes after each failure too, and says nothing about it.
                break
            case "UP", "UPDATE":
                connection.isUp = true
                connection.isTrying = false
                connection.hasFailed = false
                for other in connections.byName.keys { connections.byName[other]?.hasFailed = false }
            case "DOWN":
                // A connection that was up may have been closed for want of use, which says nothing about the broker.
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
