import ArgumentParser
import EventLoop
import Foundation
import Kafka

/// Ends the process with one line for a person and the contract's exit code.
struct Failure: Error, CustomStringConvertible {
    static let configuration: Int32 = 78
    static let unreachable: Int32 = 69

    let code: Int32
    let description: String

    /// Writes the line and hands back what makes ArgumentParser exit with the code.
    static func translated(_ error: any Error) -> any Error {
        let failure: Failure
        switch error {
        case let known as Failure: failure = known
        case let known as SettingsError: failure = Failure(code: configuration, description: known.description)
        case let known as KafkaError:
            let isSetting = known.kind == .configuration
            let isAway = known.kind == .unreachable || known.kind == .timedOut
            failure = Failure(
                code: isSetting ? configuration : isAway ? unreachable : 1, description: known.description)
        case let known as EventLoopError: failure = Failure(code: 1, description: known.description)
        default: return error
        }
        FileHandle.standardError.write(Data("locsearch: \(failure.description)\n".utf8))
        return ExitCode(failure.code)
    }
}
