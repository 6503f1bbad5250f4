internal import CCrash
internal import Dispatch
internal import Synchronization

/// Runs something when a thread of this process crashes: a trap, an access to foreign memory, an abort.
///
/// The thread that crashed waits meanwhile, so what is run must not need it, and has not much time. The signals' former handlers follow,
/// Swift's own backtraces among them. A process that is killed, or has no memory left, runs nothing.
enum CrashHandler {
    /// The thread that crashed waits so long at most.
    static let bound = Duration.seconds(2)

    private static let action = Mutex<(@Sendable () -> Void)?>(nil)
    /// Made at first use: a worker that never has to be careful keeps the signals' handlers as they are.
    private static let isInstalled: Bool = {
        guard locsearch_crash_install() == 0 else { return false }
        DispatchQueue(label: "crash").async {
            while true {
                locsearch_crash_wait()
                action.withLock { $0 }?()
                locsearch_crash_release()
            }
        }
        return true
    }()

    /// Has something run when the calling thread crashes from now on, on another thread.
    /// - Parameter run: `nil`: nothing any more. A process has one such action at a time, the newest.
    static func set(_ run: (@Sendable () -> Void)?) {
        if run == nil, action.withLock({ $0 == nil }) { return }
        guard isInstalled else { return }
        action.withLock { $0 = run }
        locsearch_crash_hold(run == nil ? 0 : Int32(clamping: bound.wholeMilliseconds))
    }
}
