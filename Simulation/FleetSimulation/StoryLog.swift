import Logging

/// Writes a worker's log lines to a schedule's story.
struct StoryLog: LogHandler {
    // Sendable by hand: a simulation has one thread.
    nonisolated(unsafe) let write: (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    init(_ write: @escaping (String) -> Void) { unsafe self.write = write }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        unsafe write("\(event.level) \(event.message)\(values)")
    }
}
