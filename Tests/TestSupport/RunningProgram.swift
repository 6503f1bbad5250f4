package import Foundation
import Synchronization

/// The program as a process that goes on: its lines as they come, signals, its end.
package final class RunningProgram: Sendable {
    private let process: Process
    private let collected = Mutex("")
    private let failed = Mutex("")

    /// The executable lies beside the tests.
    package static var location: URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "locsearch")
    }

    /// Nothing of this machine's settings, but the libraries and the sanitizers' options that the tests run with.
    package static var surroundings: [String: String] {
        let inherited = ["LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"]
        return ProcessInfo.processInfo.environment.filter { inherited.contains($0.key) }
            .merging(["HOME": "/nonexistent", "PATH": "/usr/bin"]) { _, own in own }
    }

    /// The program, about to be run.
    package static func process(_ arguments: [String], environment: [String: String] = [:]) -> Process {
        let process = Process()
        process.executableURL = location
        process.arguments = arguments
        process.environment = surroundings.merging(environment) { _, own in own }
        process.standardInput = FileHandle.nullDevice
        return process
    }

    package init(_ arguments: [String], environment: [String: String] = [:]) throws {
        process = Self.process(arguments, environment: environment)
        let (output, error) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = error
        output.fileHandleForReading.readabilityHandler = { [self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            collected.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
        error.fileHandleForReading.readabilityHandler = { [self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            failed.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
        try process.run()
    }

    package var output: String { collected.withLock { $0 } }
    package var error: String { failed.withLock { $0 } }
    package var pid: Int32 { process.processIdentifier }
    package var isRunning: Bool { process.isRunning }
    /// Once it has ended.
    package var code: Int32 { process.terminationStatus }

    package func signal(_ number: Int32) { kill(pid, number) }

    /// For `defer`: whatever became of the test, nothing stays.
    package func end() { if isRunning { kill(pid, SIGKILL) } }

    /// The first line of standard output.
    package var firstLine: String? {
        let text = output
        return text.contains("\n") ? text.split(separator: "\n").first.map(String.init) : nil
    }
}
