import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A file descriptor that lines go to, one `write(2)` each. Thread-safe.
///
/// Who reads our log through a pipe and stops reading must not stop the worker: a line that cannot be written within
/// `patience` is dropped, the next one that can says how many were.
final class LineOutput: Sendable {
    static let standardError = LineOutput(2)

    private let fileDescriptor: Int32
    let isTerminal: Bool
    /// How long a line may hold up its writer, in milliseconds.
    private let patience: Int32
    private let dropped = Atomic<Int>(0)

    init(_ fileDescriptor: Int32, patience: Int32 = 50) {
        self.fileDescriptor = fileDescriptor
        self.patience = patience
        isTerminal = isatty(fileDescriptor) == 1
    }

    /// - Parameter line: with its line feed.
    func write(_ line: String) {
        // Once lines are being dropped, nobody waits any more: a stuck reader costs its patience once.
        let isStuck = dropped.load(ordering: .relaxed) > 0
        guard hasRoom(within: isStuck ? 0 : patience) else {
            dropped.wrappingAdd(1, ordering: .relaxed)
            return
        }
        let missing = dropped.exchange(0, ordering: .relaxed)
        if missing > 0 { put("locsearch: \(missing) log lines were dropped, nobody read them\n") }
        put(line)
    }

    private func put(_ line: String) {
        var bytes = Array(line.utf8)
        _ = unsafe Self.systemWrite(fileDescriptor, &bytes, bytes.count)
    }

    private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        #if canImport(Glibc)
            unsafe Glibc.write(descriptor, bytes, count)
        #else
            unsafe Darwin.write(descriptor, bytes, count)
        #endif
    }

    private func hasRoom(within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
        let ready = unsafe poll(&entry, 1, milliseconds)
        return ready > 0
    }
}
