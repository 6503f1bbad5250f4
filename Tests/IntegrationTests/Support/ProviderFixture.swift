import Basics
import EventLoop
import HTTPTransport
import LocationSearch
import PlaceProviders
import ProviderCalls
import ProviderSimulator
import Resilience
import Synchronization
import TestSupport

/// The providers' services and the worker's transport, which call a simulator over TCP. No Kafka.
struct ProviderFixture: Sendable {
    let http: CountedHTTP
    private let baseURL: String

    /// Runs `body` in a separate fixture and always shuts it down.
    static func run(_ body: (ProviderFixture) async throws -> Void) async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let transport = HTTPTransport(loop: loop)
        let simulator = try await SimulatorServer.start(SimulatorConfiguration())
        let baseURL = simulator.baseURL

        let result = await Result.of {
            try await body(ProviderFixture(http: CountedHTTP(transport), baseURL: baseURL))
        }
        await transport.shutdown()
        await simulator.shutdown()
        try result.get()
    }

    var configuration: ProviderConfiguration { ProviderConfiguration(baseURL: baseURL, apiKey: "secret-key") }

    /// Makes all the calls that a request needs.
    func ask(_ service: any PlaceService, _ request: SearchRequest) async throws -> ProviderAnswer {
        var followUp: FollowUpCall?
        while true {
            switch try await service.call(for: request, followUp: followUp, before: Deadline(.now + .seconds(20))) {
            case .answer(let answer): return answer
            case .needsCall(let next): followUp = next
            }
        }
    }

    /// A search in Shinjuku.
    static func search(keyword: String? = nil, limit: Int = 20) -> SearchRequest {
        SearchRequest(
            requestID: "r", location: Coordinate(latitude: 35.690921, longitude: 139.700258), radiusMeters: 1000,
            keyword: keyword, limit: limit)
    }

    static func details(_ id: String) -> SearchRequest {
        SearchRequest(requestID: "r", operation: .details, placeID: id)
    }

    static func photo(_ id: String) -> SearchRequest {
        SearchRequest(requestID: "r", operation: .photo, placeID: id)
    }
}

/// Forwards calls, and records the requests and the sizes of the answers.
final class CountedHTTP: HTTPSending {
    private let next: any HTTPSending
    private let seen = Mutex<(requests: [HTTPRequest], bytes: [Int])>(([], []))

    init(_ next: any HTTPSending) { self.next = next }

    /// Returns and clears the recorded requests and the sizes of the answers' bodies.
    func takeSeen() -> (requests: [HTTPRequest], bytes: [Int]) {
        seen.withLock { exchange(&$0, with: ([], [])) }
    }

    func begin(
        _ request: HTTPRequest, before deadline: Instant,
        then end: @escaping HTTPCompletion
    ) -> (any Cancellable)? {
        seen.withLock { $0.requests.append(request) }
        return next.begin(request, before: deadline) { [self] result in
            if case .success(let response) = result { seen.withLock { $0.bytes.append(response.body.count) } }
            end(result)
        }
    }
}
