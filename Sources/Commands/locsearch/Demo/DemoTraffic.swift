import EventContract
import LocationSearch
import Logging
import Synchronization

/// Sends the demo's requests: a trickle, so that its console has something to show, and on demand the batch job of many
/// requests at once, during which interactive searches are still answered as quickly. Safe to use from any thread.
final class DemoTraffic: Sendable {
    private struct State {
        var isOn: Bool
        /// Sends the job's requests.
        var job: Task<Void, Never>?
    }

    /// The mean time between two requests of the trickle.
    private static let interval = Duration.milliseconds(500)
    /// How long the broker may take to accept a request. The next request is made only after that, so none pile up
    /// without a broker.
    private static let timeout = Duration.seconds(3)
    /// The time after which no outcome of a request is wanted.
    private static let lifetime = Duration.seconds(60)
    /// Enough requests to use the demo's rate limit for about twenty seconds: see `DemoStack.callsPerSecond`.
    private static let requestsOfJob = 20 * DemoStack.callsPerSecond

    private let state: Mutex<State>
    private let sender: RequestSender

    /// - Parameter isOn: true if the trickle is sent from the beginning.
    /// - Throws: `SettingsError` or `KafkaError` if the settings are not valid for a producer.
    init(_ settings: Settings, isOn: Bool, log: Logger) async throws {
        state = Mutex(State(isOn: isOn))
        sender = try await RequestSender(settings, timeout: Self.timeout, log: log)
    }

    var isOn: Bool {
        get { state.withLock { $0.isOn } }
        set { state.withLock { $0.isOn = newValue } }
    }

    /// True while requests of the job are being sent.
    var isSendingJob: Bool { state.withLock { $0.job != nil } }

    /// Begins to send the job's requests, unless they are being sent already.
    func beginJob() {
        state.withLock { state in
            guard state.job == nil else { return }
            state.job = Task { [self] in
                for number in 0..<Self.requestsOfJob where !Task.isCancelled {
                    // A request that the broker does not accept is skipped. The console shows the problem.
                    _ = try? await sender.send(.ofJob(number), priority: .batch)
                }
                self.state.withLock { $0.job = nil }
            }
        }
    }

    /// Sends the trickle until its task is cancelled, which also ends a job.
    func run() async {
        var random = SystemRandomNumberGenerator()
        while (try? await Task.sleep(for: Self.interval * Double.random(in: 0.4...1.6, using: &random))) != nil {
            guard isOn else { continue }
            let now = WallTime.now()
            // A request that the broker does not accept is skipped. The console shows the problem.
            _ = try? await sender.send(.visitors(using: &random), at: now, expiry: now.adding(Self.lifetime))
        }
        let job = state.withLock { $0.job }
        job?.cancel()
        await job?.value
        await sender.close()
    }
}

// MARK: - The requests

extension SearchRequest {
    private static let towns = [
        Coordinate(latitude: 35.6909, longitude: 139.7003),  // Shinjuku
        Coordinate(latitude: 35.6581, longitude: 139.7017),  // Shibuya
        Coordinate(latitude: 35.7138, longitude: 139.7770),  // Ueno
        Coordinate(latitude: 35.4658, longitude: 139.6223),  // Yokohama
        Coordinate(latitude: 34.7025, longitude: 135.4959),  // Osaka, Umeda
        Coordinate(latitude: 34.6660, longitude: 135.5010),  // Osaka, Namba
        Coordinate(latitude: 34.9858, longitude: 135.7588),  // Kyoto
        Coordinate(latitude: 34.6946, longitude: 135.1956),  // Kobe
        Coordinate(latitude: 35.1709, longitude: 136.8815),  // Nagoya
        Coordinate(latitude: 36.5780, longitude: 136.6478),  // Kanazawa
        Coordinate(latitude: 38.2601, longitude: 140.8824),  // Sendai
        Coordinate(latitude: 43.0687, longitude: 141.3508),  // Sapporo
        Coordinate(latitude: 34.3955, longitude: 132.4596),  // Hiroshima
        Coordinate(latitude: 33.5897, longitude: 130.4207),  // Fukuoka
        Coordinate(latitude: 26.2124, longitude: 127.6792),  // Naha
    ]
    private static let townsAbroad = [
        Coordinate(latitude: 48.8566, longitude: 2.3522),  // Paris
        Coordinate(latitude: 51.5072, longitude: -0.1276),  // London
        Coordinate(latitude: 52.5200, longitude: 13.4050),  // Berlin
        Coordinate(latitude: 40.7580, longitude: -73.9855),  // New York
        Coordinate(latitude: 25.0330, longitude: 121.5654),  // Taipei
        Coordinate(latitude: -33.8688, longitude: 151.2093),  // Sydney
    ]
    private static let keywords = ["ラーメン", "居酒屋", "カフェ", "寿司", "焼肉", "カレー", "ramen", "pizza"]
    private static let categories = ["cafe", "pharmacy", "park", "convenience_store"]

    /// Returns a request as visitors of a service would make it. One in thirty is invalid, so that it is rejected.
    static func visitors(using random: inout some RandomNumberGenerator) -> SearchRequest {
        func one<Element>(of list: [Element]) -> Element { list[Int.random(in: 0..<list.count, using: &random)] }

        var request = SearchRequest(
            requestID: "visitor-" + String(UInt64.random(in: 0...UInt64.max, using: &random), radix: 36),
            radiusMeters: one(of: [300, 500, 1000, 2000, 3000]),
            sessionID: "visitor-\(Int.random(in: 1...200, using: &random))")
        var town = one(of: towns)
        switch Int.random(in: 0..<60, using: &random) {
        case 0: request.location = Coordinate(latitude: 91, longitude: town.longitude)
        case 1:
            request.provider = .named(.hotpepper)
            request.category = "hospital"
        case 2..<16: break
        case 16..<24: request.keyword = one(of: keywords)
        case 24..<34:
            request.provider = .named(.hotpepper)
            request.keyword = one(of: keywords)
        case 34..<43: request.category = "hospital"
        case 43..<49: request.category = one(of: categories)
        case 49..<54: request.provider = .named(.googlePlacesLegacy)
        default: town = one(of: townsAbroad)
        }

        guard request.location == nil else { return request }
        request.location = Coordinate(
            latitude: town.latitude + Double.random(in: -0.01...0.01, using: &random),
            longitude: town.longitude + Double.random(in: -0.01...0.01, using: &random))
        return request
    }

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
