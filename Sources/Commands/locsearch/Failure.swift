import ArgumentParser
import EventLoop
import Kafka
import Observability

/// Ends the process with one line for a person and the contract's exit code.
struct Failure: Error, CustomStringConvertible {
    static let configuration: Int32 = 78
    static let unreachable: Int32 = 69

    let code: Int32
    let description: String

    init(_ description: String, code: Int32 = 1) {
        self.code = code
        self.description = description
    }

    /// Says what could not be done in front of why. The exit code follows from why.
    init(_ error: any Error, doing what: String) {
        self.init("\(what): \(error)", code: Self.known(error)?.code ?? 1)
    }

    /// Writes the line and hands back what makes ArgumentParser exit with the code. Errors that ArgumentParser knows, such
    /// as wrong usage, are handed back as they are.
    static func translated(_ error: any Error) -> any Error {
        guard let failure = known(error) else { return error }

        let line = SecretRegistry.shared.redacted(failure.description)
        // It goes by the log's own output, so that it stands behind the log's lines and waits for no reader.
        LineOutput.standardError.write("locsearch: \(line)\n")
        return ExitCode(failure.code)
    }

    /// Returns our own kinds of error as a failure; `nil` for any other.
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
