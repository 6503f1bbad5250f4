internal import CRdkafka
internal import JSON
internal import Synchronization
internal import LibC

/// Stores the last statistics of a client. Safe to use from any thread.
final class StatisticsBox: Sendable {
    private let last = Mutex<ClientStatistics?>(nil)

    /// `nil` until the first interval has ended.
    var current: ClientStatistics? { last.withLock { $0 } }

    /// Parses the statistics of an event on Swift's thread pool, away from the loop, and stores them.
    ///
    /// On a large cluster the text may be long. Therefore it is not copied, and its parsing delays no request.
    func take(_ event: StatisticsEvent) {
        Task.detached { [self] in
            // If the text is not JSON, the earlier statistics are discarded, because they would become stale.
            let statistics = event.read()
            last.withLock { $0 = statistics }
        }
    }
}

/// Owns a librdkafka event that contains statistics as text.
final class StatisticsEvent: Sendable {
    // Sendable by hand: one task reads the event, after the loop has released it, and it is freed after the last use.
    private nonisolated(unsafe) let event: OpaquePointer

    /// Takes ownership of `event`.
    init(owning event: OpaquePointer) { self.event = event }

    deinit { rd_kafka_event_destroy(event) }

    /// - Returns: `nil` for a text that is not JSON.
    func read() -> ClientStatistics? {
        guard let text = rd_kafka_event_stats(event) else { return nil }
        return withExtendedLifetime(self) {
            let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text)).assumingMemoryBound(to: UInt8.self)
            return try? ClientStatistics(json: bytes.span)
        }
    }
}
