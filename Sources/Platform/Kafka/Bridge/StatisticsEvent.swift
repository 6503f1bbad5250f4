internal import CRdkafka
internal import JSON
internal import Synchronization
internal import LibC

/// Keeps the last statistics of a client. Safe to use from any thread.
final class StatisticsBox: Sendable {
    private let last = Mutex<ClientStatistics?>(nil)

    /// `nil` until the first interval has ended.
    var current: ClientStatistics? { last.withLock { $0 } }

    /// Reads the statistics of an event away from the loop, on Swift's own threads, and keeps them.
    ///
    /// The text may be long on a large cluster, so neither is it copied, nor does a request wait for the reading of it.
    func take(_ event: StatisticsEvent) {
        Task.detached { [self] in
            // A text that is no JSON says nothing. What was known before would be older and older.
            let statistics = event.read()
            last.withLock { $0 = statistics }
        }
    }
}

/// Owns librdkafka's event that holds its statistics as text.
final class StatisticsEvent: Sendable {
    // Sendable by hand: an event is read by one task, after the loop has let go of it, and freed after the last use.
    private nonisolated(unsafe) let event: OpaquePointer

    /// Takes `event` over.
    init(owning event: OpaquePointer) { self.event = event }

    deinit { rd_kafka_event_destroy(event) }

    /// - Returns: `nil` for a text that is no JSON.
    func read() -> ClientStatistics? {
        guard let text = rd_kafka_event_stats(event) else { return nil }
        return withExtendedLifetime(self) {
            let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text)).assumingMemoryBound(to: UInt8.self)
            return try? ClientStatistics(json: bytes.span)
        }
    }
}
