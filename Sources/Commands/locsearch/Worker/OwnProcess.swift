import LibC
import Observability

/// Ends the process immediately. Waiting log lines get 100 ms to be written.
func exitNow(_ code: Int32) -> Never {
    LineOutput.standardError.flush(within: .milliseconds(100))
    _exit(code)
}

/// Writes the waiting log lines, for up to one second.
func flushLog() { LineOutput.standardError.flush(within: .seconds(1)) }

/// Ends the process once its log is written.
///
/// C's exit handlers do not run. Threads of librdkafka, libdispatch and SwiftNIO may still be running, for example to
/// destroy a client or to handle a signal. The handlers would free what those threads use.
func endProcess(_ code: Int32) -> Never {
    flushLog()
    _exit(code)
}

/// Ignores SIGPIPE, so that a write to a closed connection fails with an error instead of ending the process.
func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }

/// Makes SIGINT and SIGTERM end the first process of a container, for which the kernel drops signals without a handler.
func endOnSignalsInContainer() {
    for number in [SIGINT, SIGTERM] where getpid() == 1 { _ = signal(number) { _exit(128 + $0) } }
}

/// The name of the machine on which this process runs. In Kubernetes it is the pod's name.
enum HostName {
    /// `nil` if the system has no name.
    static let own: String? = {
        // Linux allows 64 bytes. `ProcessInfo.hostName` is not used, because it may wait seconds for DNS.
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return nil }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }()

    /// The name of this worker process: the machine's, or for a second worker of the machine `NAME-2`, and so on.
    static let worker: String? = own.map { own in
        (1...99).lazy.map { $0 == 1 ? own : "\(own)-\($0)" }.first(where: reserve) ?? own
    }

    /// Returns false if another process has the name. Otherwise this process keeps it until its end.
    private static func reserve(_ name: String) -> Bool {
        // A name in Linux's abstract namespace belongs to one socket. Elsewhere `bind` fails for another reason.
        let address = [UInt8(AF_UNIX), 0, 0] + Array("locsearch-worker/\(name)".utf8)
        let socket = socket(AF_UNIX, NetworkAddress.streamSocket, 0)
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        let isBound = unsafe address.withUnsafeBytes {
            unsafe bind(socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) == 0
        }
        let isTaken = !isBound && errno == EADDRINUSE
        if !isBound { close(socket) }
        return !isTaken
    }
}
