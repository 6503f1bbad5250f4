internal import Basics
import LocationSearch
import Logging
import Synchronization

/// A batch job that writes many requests at once, beside which a visitor's search is answered as ever. Safe to use from any thread.
final class DemoFlood: Sendable {
    /// As many as keep the demo's limit busy for some twenty seconds: see `DemoHouse.callsPerSecond`.
    private static let requests = 20 * DemoHouse.callsPerSecond
    /// How long the broker has to take a request.
    private static let timeout = Duration.seconds(3)

    private let sender: RequestSender
    private let sending = Mutex<Task<Void, Never>?>(nil)
    /// Says how many requests wait for their turn in the workers.
    private let waiting: @Sendable () async -> Int

    /// - Throws: `SettingsError` or `KafkaError` for settings that make no producer.
    init(_ settings: Settings, log: Logger, waiting: @escaping @Sendable () async -> Int) async throws {
        sender = try await RequestSender(settings, timeout: Self.timeout, log: log)
        self.waiting = waiting
    }

    /// True until all requests are written and hardly any waits.
    var isOn: Bool {
        get async {
            if sending.withLock({ $0 }) != nil { return true }
            return await waiting() > 0
        }
    }

    /// Begins to write the requests, unless they are being written already.
    func begin() {
        sending.withLock { task in
            guard task == nil else { return }
            task = Task { [self] in
                for number in 0..<Self.requests {
                    guard !Task.isCancelled else { break }
                    // A request that the broker does not take is one less. The console says what is in the way.
                    _ = try? await sender.send(.ofJob(number), priority: .batch)
                }
                sending.withLock { $0 = nil }
            }
        }
    }

    func end() async {
        let task = sending.withLock { $0 }
        task?.cancel()
        await task?.value
        await sender.close()
    }
}

extension SearchRequest {
    /// Returns one of the requests of a job that goes over a town in a grid.
    fileprivate static func ofJob(_ number: Int) -> SearchRequest {
        let run = UInt64.random(in: 0...UInt64.max)
        return SearchRequest(
            requestID: "job-\(number)-" + String(run, radix: 36), provider: .named(.hotpepper),
            location: Coordinate(
                latitude: 35.60 + Double(number % 20) / 200, longitude: 139.60 + Double(number / 20 % 20) / 200),
            radiusMeters: 500)
    }
}
