import Foundation
import TestSupport

/// A page that subscribes to one event stream of a console, and reads only on demand.
final class EventStreamClient {
    struct Event: Equatable {
        var name = ""
        var data = ""

        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(data.utf8))) as? [String: Any] ?? [:]
        }
    }

    private let connection: LoopbackConnection
    private var unread = Data()
    /// All events so far.
    private(set) var events: [Event] = []

    /// - Parameter host: the page's host name for the console.
    /// - Parameter receiveBuffer: see `LoopbackConnection`.
    init(
        port: Int, path: String, host: String = "localhost", receiveBuffer: Int32? = nil
    ) throws {
        connection = try LoopbackConnection(port: port, receiveBuffer: receiveBuffer)
        connection.send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
    }

    /// Waits for the first line of the answer, and returns its status.
    func status() async throws -> Int {
        var line: [UInt8] = []
        try await eventually("an answer") {
            unread += connection.readAvailable()
            line = Array(unread.prefix { $0 != 0x0D })
            return unread.contains(0x0D)
        }
        return String(decoding: line, as: UTF8.self).split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// Reads the available data.
    func read() {
        unread += connection.readAvailable()
        while let end = unread.range(of: Data("\n\n".utf8)) {
            let block = String(decoding: unread[..<end.lowerBound], as: UTF8.self)
            unread = Data(unread[end.upperBound...])
            if let event = Self.event(block) { events.append(event) }
        }
    }

    /// Reads until an event satisfies `condition`, and returns the newest one that does.
    @discardableResult
    func waitFor(_ what: String, _ condition: (Event) -> Bool) async throws -> Event {
        var found: Event?
        // An event may be large, so each is checked once.
        var seen = 0
        try await eventually(what) {
            read()
            found = events[seen...].last(where: condition)
            seen = events.count
            return found != nil
        }
        return found ?? Event()
    }

    /// Parses one event. Skips chunk sizes and the head of the answer.
    private static func event(_ block: String) -> Event? {
        var event = Event()
        for line in block.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
            if line.hasPrefix("data: ") { event.data += line.dropFirst(6) }
        }
        return event.name.isEmpty ? nil : event
    }
}
