#if DEBUG
    internal import EventContract
    internal import Foundation

    /// Crashes the process with a trap at a marked record, so that tests can examine the consequences. Only debug
    /// builds contain it.
    ///
    /// The environment variable `LOCSEARCH_TEST_TRAP_HEADER` names the header that marks a record.
    enum TrapHook {
        private static let header = ProcessInfo.processInfo.environment["LOCSEARCH_TEST_TRAP_HEADER"]

        static func check(_ record: ConsumerRecord) {
            guard let header, record.headers.contains(where: { $0.name == header }) else { return }
            fatalError("crash requested by the header \(header)")
        }
    }
#endif
