import Synchronization

/// A small HTTP/1.1 server on 127.0.0.1, for suites that need an answer over real TCP.
package final class LoopbackHTTPServer: Sendable {
    package struct Answer: Sendable {
        package var status: Int
        package var body: String
        /// The time before the answer begins.
        package var delay: Duration

        package init(status: Int = 200, body: String, delay: Duration = .zero) {
            (self.status, self.body, self.delay) = (status, body, delay)
        }
    }

    private let server: RawServer
    /// Keeps each server until `stop`, because a test may use its variable for the last time before its last request.
    private static let running = Mutex<[RawServer]>([])

    /// Starts to listen.
    /// - Parameter answer: makes the answer to a request. It is called on the connection's thread.
    package init(answer: @escaping @Sendable (_ target: String) -> Answer) throws {
        server = try RawServer { connection in
            while let target = connection.readRequest().flatMap(Self.target) {
                let answer = answer(target)
                if answer.delay > .zero { connection.pause(milliseconds: UInt32(answer.delay / .milliseconds(1))) }
                connection.answer(answer.body, status: answer.status)
            }
        }
        Self.running.withLock { $0.append(server) }
    }

    /// The port that the server listens on.
    package var port: UInt16 { server.port }
    /// `http://127.0.0.1:PORT`, without a slash at the end.
    package var baseURL: String { server.url }
    /// The targets of the requests so far, in the order of arrival.
    package var targets: [String] { server.requests.compactMap(Self.target) }

    /// Ends listening. Connections end when their clients close them.
    package func stop() {
        server.stop()
        Self.running.withLock { $0.removeAll { $0 === server } }
    }

    /// Returns the target of a request; `nil` if its first line has none.
    private static func target(_ request: [UInt8]) -> String? {
        let words = request.split(separator: 0x20, maxSplits: 2)
        return words.count == 3 ? String(decoding: words[1], as: UTF8.self) : nil
    }
}
