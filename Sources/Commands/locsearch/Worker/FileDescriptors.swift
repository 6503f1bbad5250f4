import Logging
import LibC

/// The limits on files and connections that this process may have open.
enum FileDescriptors {
    /// Opens standard input, output and error if the process was started without them. Otherwise a socket could get one
    /// of their numbers and receive the output. They are opened in the wrong direction, so that reading and writing
    /// still fail.
    static func fillClosedStandardOnes() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Raises the soft limit of this process to its hard limit. The usual soft limit of 1,024 protects programs that
    /// call `select`, which this one does not. A worker needs a descriptor for each connection to a provider, a broker
    /// and a client.
    static func raiseLimit(log: Logger) {
        var limits = rlimit()
        guard unsafe getrlimit(resource, &limits) == 0, limits.rlim_cur < limits.rlim_max else { return }

        let before = limits.rlim_cur
        limits.rlim_cur = limits.rlim_max
        guard unsafe setrlimit(resource, &limits) != 0 else { return }
        let reason = unsafe String(cString: strerror(errno))
        log.warning(
            "the limit of open files could not be raised",
            metadata: ["limit": "\(before)", "reason": "\(reason)"])
    }

    /// The current limit on open files and connections.
    static var limit: Int { limits.map { Int(clamping: $0.rlim_cur) } ?? 1024 }

    /// The limit to which this process may raise `limit`.
    static var hardLimit: Int { limits.map { Int(clamping: $0.rlim_max) } ?? 1024 }

    private static var limits: rlimit? {
        var limits = rlimit()
        return unsafe getrlimit(resource, &limits) == 0 ? limits : nil
    }

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}
