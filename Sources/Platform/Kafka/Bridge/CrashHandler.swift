internal import CCrash
internal import Dispatch
internal import Synchronization

/// Runs an action when a thread of this process crashes: a trap, an invalid memory access, or an abort.
///
/// The crashed thread waits meanwhile, so the action must not depend on it, and has little time. The signals' earlier
/// handlers run afterwards, including Swift's backtraces. A process that is killed or out of memory runs no action.
enum CrashHandler {
    /// The maximum time that the crashed thread waits.
    static let bound = Duration.seconds(2)

    private static let action = Mutex<(@Sendable () -> Void)?>(nil)
    /// Installed at first use: a worker that never prepares an action keeps the signals' handlers unchanged.
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

    /// Sets the action that runs on another thread if the calling thread crashes.
    /// - Parameter run: `nil` removes the action. A process has one action at a time, the newest.
    static func set(_ run: (@Sendable () -> Void)?) {
        if run == nil, action.withLock({ $0 == nil }) { return }
        guard isInstalled else { return }
        action.withLock { $0 = run }
        locsearch_crash_hold(run == nil ? 0 : Int32(clamping: bound.wholeMilliseconds))
    }
}
