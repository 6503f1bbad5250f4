import ArgumentParser
import EventLoop
import Kafka
import Observability

/// An error that ends the process with one line of text and a documented exit code.
struct Failure: Error, CustomStringConvertible {
    static let configuration: Int32 = 78
    static let unreachable: Int32 = 69

    let code: Int32
    let description: String

    init(_ description: String, code: Int32 = 1) {
        self.code = code
        self.description = description
    }

    /// Puts a description of the failed operation in front of the error. The exit code depends on the error.
    init(_ error: any Error, doing what: String) {
        self.init("\(what): \(error)", code: Self.known(error)?.code ?? 1)
    }

    /// Runs a request to the brokers. A Kafka error becomes a failure with a description of the operation in front.
    static func naming<Value>(_ what: String, _ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as KafkaError {
            throw Failure(error, doing: what)
        }
    }

    /// Writes the line, and returns an error that makes ArgumentParser exit with the code. Errors that ArgumentParser
    /// handles itself, such as wrong usage, are returned unchanged.
    static func translated(_ error: any Error) -> any Error {
        guard let failure = known(error) else { return error }

        // The text may contain names from brokers and other processes.
        let lines = SecretRegistry.shared.redacted(failure.description).split(separator: "\n")
        let line = lines.map { TerminalText.safe(String($0)) }.joined(separator: "\n")
        // Uses the log's output, so that the line comes after all log lines and never blocks on a slow reader.
        LineOutput.standardError.write("locsearch: \(line)\n")
        return ExitCode(failure.code)
    }

    /// Returns this project's error types as a failure; `nil` for other types.
    private static func known(_ error: any Error) -> Failure? {
        switch error {
        case let known as Failure: return known
        case let known as SettingsError: return Failure(known.description, code: configuration)
        case let known as KafkaError: return Failure(known.description, code: code(of: known.kind))
        case let known as EventLoopError: return Failure(known.description)
        default: return nil
        }
    }

    private static func code(of kind: KafkaError.Kind) -> Int32 {
        switch kind {
        case .configuration: configuration
        case .unreachable, .timedOut: unreachable
        default: 1
        }
    }
}

extension Result where Failure == any Error {
    static func catching(_ body: () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
