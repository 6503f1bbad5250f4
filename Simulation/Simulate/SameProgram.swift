import Foundation

/// Starts this program again in other processes, in all of which dictionaries have the same order.
enum SameProgram {
    /// Without this variable, dictionaries have a different order in each process.
    private static let variable = "SWIFT_DETERMINISTIC_HASHING"

    static var hasFixedOrder: Bool { ProcessInfo.processInfo.environment[variable] != nil }

    /// Runs the program with the same arguments and a fixed order of dictionaries.
    /// - Returns: its exit code.
    static func runAgain() throws -> Int32 {
        let process = try launch(Array(CommandLine.arguments.dropFirst()))
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// - Parameter output: receives the standard output; standard error is discarded then. `nil`: both are this process's.
    static func launch(_ arguments: [String], output: Pipe? = nil) throws -> Process {
        let process = Process()
        // The file that this process runs, even if a build has replaced it meanwhile.
        process.executableURL = URL(fileURLWithPath: "/proc/\(getpid())/exe")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging([variable: "1"]) { $1 }
        if let output { (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice) }
        try process.run()
        return process
    }
}
