internal import Basics
import LocationSearch
import Logging
import Synchronization

/// A batch job that sends many requests at once. It shows that interactive searches are still answered as quickly. Safe
/// to use from any thread.
final class DemoFlood: Sendable {
    /// Enough requests to use the demo's rate limit for about twenty seconds: see `DemoStack.callsPerSecond`.
    private static let requests = 20 * DemoStack.callsPerSecond
    /// How long the broker may take to accept a request.
    private static let timeout = Duration.seconds(3)

    private let sender: RequestSender
    private let sending = Mutex<Task<Void, Never>?>(nil)
    /// Returns the number of requests that wait in the workers.
    private let waiting: @Sendable () async -> Int

    /// - Throws: `SettingsError` or `KafkaError` if the settings are not valid for a producer.
    init(_ settings: Settings, log: Logger, waiting: @escaping @Sendable () async -> Int) async throws {
        sender = try await RequestSender(settings, timeout: Self.timeout, log: log)
        self.waiting = waiting
    }

    /// True until all requests are sent and no request waits in the workers.
    var isOn: Bool {
        get async {
            if sending.withLock({ $0 }) != nil { return true }
            return await waiting() > 0
        }
    }

    /// Begins to send the requests, unless they are being sent already.
    func begin() {
        sending.withLock { task in
            guard task == nil else { return }
            task = Task { [self] in
                for number in 0..<Self.requests {
                    guard !Task.isCancelled else { break }
                    // A request that the broker does not accept is skipped. The console shows the problem.
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
    /// Returns one request of a job that covers a town in a grid.
    fileprivate static func ofJob(_ number: Int) -> SearchRequest {
        let run = UInt64.random(in: 0...UInt64.max)
        return SearchRequest(
            requestID: "job-\(number)-" + String(run, radix: 36), provider: .named(.hotpepper),
            location: Coordinate(
                latitude: 35.60 + Double(number % 20) / 200, longitude: 139.60 + Double(number / 20 % 20) / 200),
            radiusMeters: 500)
    }
}
