internal import CLinux
internal import LibC

/// The thread functions of the system that a loop needs.
enum LoopThread {
    /// The name of a loop's thread in `top -H` and profilers.
    static let name = "event-loop"

    /// Carries a closure to a new thread.
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// The id of the calling thread, unique among the threads that exist.
    static var currentID: UInt { UInt(pthread_self()) }

    static func nameCurrent() { unsafe locsearch_name_thread(name) }

    /// Starts a thread that runs `run` and retains it until the end.
    /// - Throws: `EventLoopError` if the system has no thread left.
    static func start(_ run: @escaping @Sendable () -> Void) throws(EventLoopError) {
        var thread = pthread_t()
        let body = unsafe Unmanaged.passRetained(Body(run))
        let result = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                let body = unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
                body.run()
                return nil
            }, body.toOpaque())
        guard result == 0 else {
            unsafe body.release()
            throw EventLoopError(operation: "pthread_create", code: result)
        }

        pthread_detach(thread)
    }
}

/// Thrown when the system has no file descriptor or thread left for a loop. Raise the limits of the process.
public struct EventLoopError: Error, Hashable, CustomStringConvertible {
    /// The system call that failed.
    public let operation: String
    /// `errno` of the failed call.
    public let code: Int32

    /// One line for operators, with the limits to check.
    public var description: String {
        "cannot start an event loop: \(operation) failed, \(unsafe String(cString: strerror(code)))"
            + "; check the limits on open files and threads (ulimit -n, ulimit -u)"
    }
}
