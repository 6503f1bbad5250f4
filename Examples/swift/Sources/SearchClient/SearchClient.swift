import EventContract
import EventLoop
import Foundation
import Kafka
import LocationSearch
import Logging
import SessionState

/// Sends a search and follows its outcome. The store is what a service keeps: one state for each session, whatever the order
/// in which outcomes arrive and however often.
///
///     KAFKA_BOOTSTRAP_SERVERS=localhost:9092 swift run --package-path Examples/swift
@main
struct SearchClient {
    static func main() async throws {
        let servers = ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"] ?? "localhost:9092"
        let log = Logger(label: "search-client")
        let loop = try EventLoop()
        let producer = try KafkaProducer(
            loop: loop, configuration: ProducerConfiguration(bootstrapServers: servers), log: log)

        // Outcomes are read from the topics' ends on, so this comes before the request is out. It joins no group.
        let reader = try TopicReader(ConsumerConfiguration(bootstrapServers: servers), log: log)
        try await reader.open(
            ["location-search.results", "location-search.errors"], at: .end, within: .seconds(15))

        let request = SearchRequest(
            requestID: UUID().uuidString, location: Coordinate(latitude: 35.690921, longitude: 139.700258),
            sessionID: "swift-\(UUID().uuidString)")
        let (store, now) = (Store(), WallTime.now())
        store.dispatch(.requested(request, at: now))

        var encoder = RequestEncoder(source: "/examples/swift")
        // The priority counts where the topic has requests of several classes, and is ignored elsewhere.
        let event = encoder.encode(request, at: now, priority: .interactive)
        try await producer.send(
            ProducerRecord(
                topic: "location-search.requests", key: event.key, value: event.value, headers: event.headers))

        let end = ContinuousClock.now + .seconds(30)
        while !store.state(of: request.sessionID ?? "").inFlight.isEmpty, .now < end {
            for record in try await reader.records(max: 100, within: .seconds(1)) {
                // What is no outcome is not ours to judge.
                guard let outcome = try? OutcomeReader().read(value: record.value, headers: record.headers) else {
                    continue
                }
                store.dispatch(.outcome(outcome))
            }
        }
        await producer.close()
        loop.stop()
        exit(show(store.state(of: request.sessionID ?? "")))
    }

    /// Prints what a session shows.
    /// - Returns: the exit status.
    private static func show(_ state: SessionState) -> Int32 {
        if let list = state.list {
            for place in list.places { print(place.name, place.address ?? "") }
            print(list.places.count, "places from", list.provider ?? "nobody")
        }
        if let error = state.error { print("\(error.code): \(error.message) (\(error.remedy.rawValue))") }
        if !state.inFlight.isEmpty { print("no outcome within 30 s") }
        return state.search?.status == .completed ? 0 : 1
    }
}
