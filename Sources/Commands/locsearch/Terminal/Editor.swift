import Foundation
import LibC

/// The user's editor: `VISUAL`, else `EDITOR`, else vi.
enum Editor {
    /// Lets the user edit a text.
    /// - Parameter name: the file name, with an extension that editors know.
    /// - Returns: the new text.
    /// - Throws: `Failure` if the editor cannot be started or ends with an error.
    static func edit(_ text: [UInt8], as name: String) async throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "locsearch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }

        let file = folder.appending(path: name)
        try Data(text).write(to: file)
        let environment = ProcessInfo.processInfo.environment
        let editor = [environment["VISUAL"], environment["EDITOR"]].compactMap { $0 }.first { !$0.isEmpty } ?? "vi"

        let status = await onOwnThread { run(["/bin/sh", "-c", "\(editor) \"$1\"", "sh", file.path]) }
        guard status == 0 else { throw Failure("the editor \(editor) failed (\(status)): set EDITOR to another one") }
        return [UInt8](try Data(contentsOf: file))
    }

    /// Runs a program on this terminal, in this process group. Foundation's `Process` would create a new process group,
    /// in which the editor could not read from the terminal.
    /// - Parameter arguments: the program's path first.
    /// - Returns: its exit status, or 128 plus the number of the signal that ended it.
    private static func run(_ arguments: [String]) -> Int32 {
        // Ctrl-C reaches both processes. It is meant for the editor, which may continue after it.
        let handlers = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, handler) in handlers { _ = signal(number, handler) } }

        let environment = ProcessInfo.processInfo.environment
        guard let pid = try? ChildProcess.start(arguments, environment, pipes: nil) else { return 127 }

        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let number = status & 0x7F
        return number == 0 ? status >> 8 & 0xFF : 128 + number  // bounded: 7 bits
    }
}
