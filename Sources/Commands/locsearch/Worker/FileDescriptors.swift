import Logging
import LibC

/// How many files and connections this process may have open.
enum FileDescriptors {
    /// Opens standard input, output and error where the process was started without them, or a socket would take the number and
    /// have the output. They are opened the wrong way round, so that reading and writing fail as they did.
    static func fillClosedStandardOnes() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Raises the process's own limit to the one that the system sets it, because the usual 1,024 are for programs that call
    /// `select`, which this one does not. A worker needs one for each connection to a provider, a broker and a client.
    static func raiseLimit(log: Logger) {
        var limits = rlimit()
        guard unsafe getrlimit(resource, &limits) == 0, limits.rlim_cur < limits.rlim_max else { return }

        let before = limits.rlim_cur
        limits.rlim_cur = limits.rlim_max
        guard unsafe setrlimit(resource, &limits) != 0 else { return }
        let reason = unsafe String(cString: strerror(errno))
        log.warning(
            "the limit of open files stays as it is, because the system does not let it be raised",
            metadata: ["limit": "\(before)", "reason": "\(reason)"])
    }

    /// The number of files and connections that this process may have open now.
    static var limit: Int { limits.map { Int(clamping: $0.rlim_cur) } ?? 1024 }

    /// The number to which this process may raise that.
    static var hardLimit: Int { limits.map { Int(clamping: $0.rlim_max) } ?? 1024 }

    private static var limits: rlimit? {
        var limits = rlimit()
        return unsafe getrlimit(resource, &limits) == 0 ? limits : nil
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
