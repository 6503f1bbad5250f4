import Foundation
import TestSupport
import Testing

extension RunningProgram {
    /// Runs `locsearch`, or the program at `path`, to its end.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], at path: String? = nil
    ) async throws -> RunningProgram {
        let program = try RunningProgram(arguments, environment: environment, at: path)
        defer { program.end() }
        try await eventually("\(arguments) ends", within: .seconds(60)) { !program.isRunning }
        return program
    }

    /// Runs `locsearch` to its end at a terminal, which `script` provides.
    /// - Parameter input: the typed text.
    static func run(
        _ arguments: [String], atTerminalWith input: String, environment: [String: String]
    ) async throws -> RunningProgram {
        let command = ([location.path] + arguments).joined(separator: " ")
        return try await run(
            ["-c", "printf '\(input)' | script -qec '\(command)' /dev/null"], environment: environment, at: "/bin/sh")
    }

    /// Whether `run(_:atTerminalWith:environment:)` can be used.
    static let hasTerminal = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")

    /// Starts `locsearch demo`, and waits until it is up.
    static func demo(_ arguments: [String] = [], environment: [String: String] = [:]) async throws -> RunningProgram {
        let demo = try RunningProgram(["demo"] + arguments, environment: environment)
        do {
            try await eventually("the demo is up", within: .seconds(120)) {
                demo.output.contains("Ctrl-C ends the demo") || !demo.isRunning
            }
            return demo
        } catch {
            demo.end()
            throw error
        }
    }

    /// Waits for the first line of the output, and returns its last word: a server's address.
    func address() async throws -> String {
        try await eventually("the program prints its address", within: .seconds(60)) { firstLine != nil }
        return String(try #require(firstLine?.split(separator: " ").last))
    }

    /// Sends SIGTERM, and waits for the end.
    func terminate() async throws {
        signal(SIGTERM)
        try await eventually("the program ends", within: .seconds(60)) { !isRunning }
    }

    /// Returns the first line of the output with a prefix.
    func line(_ prefix: String) throws -> Substring {
        try #require(output.split(separator: "\n").first { $0.hasPrefix(prefix) }, "\(output)\(error)")
    }

    /// The output as an object of JSON.
    func json() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any], "\(output)\(error)")
    }
}
