public import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A program that runs as a process without input. A test reads its output as it comes, sends signals, and observes its end.
///
/// Foundation's `Process` is not used: on Linux its dispatch sources sometimes lose a process's end or the last part of its output,
/// and have crashed in libdispatch. Here a thread reads until both outputs end, then waits for the process.
package final class RunningProgram: Sendable {
    private struct State {
        var output: [UInt8] = []
        var error: [UInt8] = []
        var code: Int32?
        var isReading = true
    }
    private let state: Mutex<State>
    /// The process's id.
    package let pid: Int32

    /// The path of `locsearch`, which is built into the same folder as the tests.
    package static var location: URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "locsearch")
    }

    /// True if the tests, and so the programs that they start, run with a sanitizer.
    package static var isSanitized: Bool {
        ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains { ProcessInfo.processInfo.environment[$0] != nil }
    }

    /// The environment of every program: no settings of this machine, except the libraries and the sanitizers' options of the tests.
    private static var surroundings: [String: String] {
        let inherited = ["LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"]
        return ProcessInfo.processInfo.environment.filter { inherited.contains($0.key) }
            .merging(["HOME": "/nonexistent", "PATH": "/usr/bin"]) { _, own in own }
    }

    /// Starts a program.
    /// - Parameter path: the program; `nil` for `locsearch`.
    /// - Throws: `POSIXError` if the program cannot be started.
    package init(_ arguments: [String], environment: [String: String] = [:], at path: String? = nil) throws {
        let (output, error) = (try Self.pipe(), try Self.pipe())
        defer { for end in [output.write, error.write] { close(end) } }
        state = Mutex(State())
        do {
            pid = try Self.start(
                [path ?? Self.location.path] + arguments, Self.surroundings.merging(environment) { _, own in own },
                output: output.write, error: error.write)
        } catch let problem {
            for end in [output.read, error.read] { close(end) }
            throw problem
        }
        Thread.detachNewThread { [self] in
            read(output.read, error.read)
            let code = Self.wait(for: pid)
            state.withLock { $0.code = code }
        }
    }

    /// The standard output so far.
    package var output: String { String(decoding: outputBytes, as: UTF8.self) }
    /// The bytes of the standard output so far.
    package var outputBytes: [UInt8] { state.withLock { $0.output } }
    /// The standard error so far.
    package var error: String { String(decoding: state.withLock { $0.error }, as: UTF8.self) }
    /// True until the program has ended and all of its output was read.
    package var isRunning: Bool { code == nil }
    /// The exit status, or 128 plus the number of the signal that ended the program, as in shells; `nil` while it runs.
    package var code: Int32? { state.withLock { $0.code } }

    /// Sends a signal. It does nothing once the program has ended, because its id may belong to another process by then.
    package func signal(_ number: Int32) { if isRunning { kill(pid, number) } }

    /// Stops reading the program's output after the next line, so that its pipes fill up.
    package func stopReading() { state.withLock { $0.isReading = false } }

    /// Kills the program. Call it in a `defer`, so that no process outlives its test.
    package func end() { signal(SIGKILL) }

    /// The first line of the standard output; `nil` until it is complete.
    package var firstLine: String? {
        let text = output
        return text.contains("\n") ? text.split(separator: "\n").first.map(String.init) : nil
    }

    // MARK: The process

    /// Makes a pipe whose ends are closed in other programs that are started.
    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
            let result = unsafe Glibc.pipe(&ends)
        #else
            let result = unsafe Darwin.pipe(&ends)
        #endif
        guard result == 0 else { throw failure(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func start(
        _ command: [String], _ environment: [String: String], output: Int32, error: Int32
    ) throws -> Int32 {
        #if canImport(Glibc)
            var (actions, attributes) = unsafe (posix_spawn_file_actions_t(), posix_spawnattr_t())
        #else
            var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?) = (nil, nil)
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, error, 2)
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // A thread of a pool has signals blocked, and a shell may have started the tests with some ignored. A program would inherit both.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGQUIT] { unsafe sigaddset(&signals, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var pid: Int32 = 0
        // Safe: these are terminated copies, which are freed after the call that reads them.
        let arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        let variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
        let code = unsafe posix_spawn(&pid, command[0], &actions, &attributes, arguments, variables)
        guard code == 0 else { throw failure(code) }
        return pid
    }

    private static func failure(_ code: Int32) -> POSIXError { POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }

    /// Reads until both outputs end, or until `stopReading`: then they stay open, unread.
    private func read(_ output: Int32, _ error: Int32) {
        var ends = [pollfd(fd: output, events: Int16(POLLIN), revents: 0)]
        ends.append(pollfd(fd: error, events: Int16(POLLIN), revents: 0))
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while ends.contains(where: { $0.fd >= 0 }) {
            guard state.withLock({ $0.isReading }) else { break }
            guard unsafe poll(&ends, nfds_t(ends.count), -1) > 0 else { continue }
            for index in ends.indices where ends[index].fd >= 0 && ends[index].revents != 0 {
                #if canImport(Glibc)
                    let count = unsafe Glibc.read(ends[index].fd, &buffer, buffer.count)
                #else
                    let count = unsafe Darwin.read(ends[index].fd, &buffer, buffer.count)
                #endif
                if count > 0 {
                    state.withLock { state in
                        if index == 0 {
                            state.output += buffer[..<count]
                        } else {
                            state.error += buffer[..<count]
                        }
                    }
                } else if count == 0 || errno != EINTR {
                    close(ends[index].fd)
                    ends[index].fd = -1  // poll skips it
                }
            }
        }
    }

    private static func wait(for pid: Int32) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }
}

/// The folder of the package.
public enum Repository {
    public static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
