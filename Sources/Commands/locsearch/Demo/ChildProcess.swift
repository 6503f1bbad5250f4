internal import Basics
internal import CLinux
import Foundation
import LibC
import Synchronization

/// A program that runs as a child of this process. Safe to use from any thread.
///
/// Its standard input is a pipe that carries no data and closes when this process ends, even by a crash or SIGKILL. A
/// child that reads it (`exitAtEndOfInput`) therefore never outlives this process. The Linux alternative,
/// PR_SET_PDEATHSIG, is not usable: it sends the signal as soon as the thread that started the child ends.
///
/// Foundation's `Process` is not used, because on Linux its dispatch sources occasionally miss the end of a process.
final class ChildProcess: Sendable {
    private struct State {
        var output: [UInt8] = []
        var isRunning = true
    }

    /// Must be large enough for the first line of output.
    private static let mostBytesKept = 4096

    let pid: Int32
    private let state = Mutex(State())

    /// Starts a program in its own process group, so that Ctrl-C at the terminal does not reach it.
    /// - Parameter arguments: the program's path first.
    /// - Throws: `POSIXError` if it cannot be started.
    init(_ arguments: [String], environment: [String: String]) throws {
        let (input, output) = (Pipe(), Pipe())
        for handle in [input.fileHandleForWriting, output.fileHandleForReading] {
            _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        let pipes = (input.fileHandleForReading.fileDescriptor, output.fileHandleForWriting.fileDescriptor)
        pid = try Self.start(arguments, environment, pipes: pipes)
        // The child has its own copies: its output ends when it ends.
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()

        Thread.detachNewThread { [self] in
            keepOutput(of: output.fileHandleForReading.fileDescriptor)
            waitForEnd()
            // Both pipes are open until here.
            withExtendedLifetime((input, output)) {}
        }
    }

    var isRunning: Bool { state.withLock { $0.isRunning } }

    /// The first line of its output; `nil` until it is complete.
    var firstLine: String? {
        let lines = state.withLock { $0.output }.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.count > 1 ? String(decoding: lines[0], as: UTF8.self) : nil
    }

    /// Sends a signal. Does nothing once the process has ended, because its id may then belong to another process.
    func signal(_ number: Int32) {
        state.withLock { state in
            if state.isRunning { kill(pid, number) }
        }
    }

    /// Waits until the process has ended.
    /// - Returns: false if it is still running after `limit`.
    func hasEnded(within limit: Duration) async -> Bool {
        await Self.holds(within: limit) { !isRunning }
    }

    /// Returns true as soon as a condition holds, and false if it does not hold within `limit`.
    static func holds(within limit: Duration, _ condition: () async -> Bool) async -> Bool {
        let end = Instant.now + limit
        while await !condition() {
            guard Instant.now < end, (try? await Task.sleep(for: .milliseconds(20))) != nil else { return false }
        }
        return true
    }

    // MARK: - System calls

    /// Starts a program with no signal blocked or ignored.
    /// - Parameter arguments: the program's path first.
    /// - Parameter pipes: its input and output, in a separate process group; `nil` for a program on this terminal.
    /// - Returns: its process id.
    static func start(
        _ arguments: [String], _ environment: [String: String], pipes: (input: Int32, output: Int32)?
    ) throws -> Int32 {
        var (actions, attributes) = unsafe (posix_spawn_file_actions_t(), posix_spawnattr_t())
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let pipes {
            unsafe posix_spawn_file_actions_adddup2(&actions, pipes.input, 0)
            unsafe posix_spawn_file_actions_adddup2(&actions, pipes.output, 1)
        }

        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (pipes == nil ? 0 : POSIX_SPAWN_SETPGROUP)
        // The child must not inherit the broker's connections: a connection that it held open could not be closed by
        // this process.
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        // A program inherits blocked and ignored signals. Pool threads block signals, and this process ignores some.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGPIPE, SIGTERM, SIGINT, SIGQUIT] { unsafe sigaddset(&signals, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))

        var pid: Int32 = 0
        // Safe: these are null-terminated copies, freed after the call that reads them.
        let texts = unsafe arguments.map { unsafe strdup($0) } + [nil]
        let variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer { unsafe (texts + variables).forEach { unsafe free($0) } }
        let code = unsafe posix_spawn(&pid, arguments[0], &actions, &attributes, texts, variables)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        return pid
    }

    /// Reads until the output ends, so that the pipe never fills up.
    private func keepOutput(of descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                return
            }
            state.withLock { state in
                if state.output.count < Self.mostBytesKept { state.output += buffer[..<count] }
            }
        }
    }

    /// Returns once the process has ended. Its id is released under the lock, so that `signal` never reaches another
    /// process.
    private func waitForEnd() {
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        state.withLock { state in
            var status: Int32 = 0
            while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
            state.isRunning = false
        }
    }
}

/// Makes this process exit as soon as its standard input ends, because its parent process has ended then.
func exitAtEndOfInput() {
    Thread.detachNewThread {
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(STDIN_FILENO, &byte, 1)
            if count == 0 || count < 0 && errno != EINTR { exitNow(0) }
        }
    }
}
