import KafkaTestSupport
import TestSupport

/// `locsearch console` as a process with a broker, until its test has released it.
final class ConsoleProcess: Sendable {
    let broker: TestBroker
    let program: RunningProgram
    /// The console's address, without a slash at the end.
    let url: String

    init(_ arguments: [String] = []) async throws {
        let topics = ["requests", "results", "errors", "dead-letters", "fleet"]
        let broker = try TestBroker(topics: Dictionary(uniqueKeysWithValues: topics.map { ($0, 1) }))
        let names = topics.flatMap { ["--topics-\($0)", broker.name($0)] }
        let program = try RunningProgram(
            ["console", "--kafka-bootstrap-servers", broker.bootstrapServers, "--console-port", "0"] + names + arguments
        )
        (self.broker, self.program) = (broker, program)
        do {
            url = try await program.address()
        } catch {
            program.end()
            throw error
        }
    }

    deinit { program.end() }

    /// Opens a connection to the console and requests a path, with no more headers than needed.
    func connect(_ path: String) throws -> LoopbackConnection {
        let connection = try LoopbackConnection(port: url.split(separator: ":").last.flatMap { Int($0) } ?? 0)
        connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return connection
    }
}
