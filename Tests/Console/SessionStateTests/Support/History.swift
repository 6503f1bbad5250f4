@testable import EventContract
@testable import LocationSearch
import SessionState
import TestSupport

/// A random history of a session. The same seed gives the same history.
///
/// Times repeat, and there are few tokens and places, so that requests interact in every way: pages of pages, details of the same
/// place, outcomes that are lost, duplicated or contradictory, and requests that never arrive.
struct History {
    /// The actions, in the order of the requests.
    private(set) var actions: [Action] = []
    /// The limits that the session respects, however late its requests arrive.
    let limits: SessionLimits

    private static let tokens = ["second", "third", nil]

    /// - Parameter requests: the largest number of requests.
    init(using random: inout SplitMix64, requests: Int = 10) {
        let count = Int.random(in: 1...requests, using: &random)
        // The default limits suffice for short histories, in which all outcomes may precede their requests.
        limits = count <= SessionLimits().unrequestedOutcomes ? .init() : .init(unrequestedOutcomes: requests)

        for number in 0..<count {
            let request = Self.request(number, using: &random)
            let sentAt = Story.time(.random(in: 0...6, using: &random))
            let isSeen = Int.random(in: 0..<8, using: &random) > 0
            if isSeen { actions.append(.requested(request, at: sentAt)) }

            for _ in 0..<random.pick(from: [0, 1, 1, 1, 2, 3]) {
                actions.append(.outcome(Self.outcome(of: request, sentAt: sentAt, using: &random)))
            }
        }
    }

    /// Returns the same actions in another order, some of them several times.
    func shuffled(using random: inout SplitMix64) -> [Action] {
        let doubled = actions.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
        return (actions + doubled).shuffled(using: &random)
    }

    // MARK: Requests

    private static func request(_ number: Int, using random: inout SplitMix64) -> SearchRequest {
        let operation = random.pick(from: [SearchOperation.search, .search, .search, .details, .photo])
        let provider = random.pick(from: [ProviderChoice.auto, .named(.hotpepper), .named(.googlePlaces)])
        return SearchRequest(
            requestID: "r\(number)", operation: operation, provider: provider, location: .shinjuku,
            pageToken: Bool.random(using: &random) ? random.pick(from: tokens) : nil,
            placeID: operation == .search ? nil : "p\(Int.random(in: 0..<4, using: &random))", sessionID: "session")
    }

    // MARK: Outcomes

    private static func outcome(
        of request: SearchRequest, sentAt: WallTime, using random: inout SplitMix64
    ) -> OutcomeEvent {
        let wait = Int64.random(in: -1000...3000, using: &random)
        let hasTimes = Int.random(in: 0..<10, using: &random) > 0
        let receivedAt = WallTime(milliseconds: sentAt.milliseconds + wait)
        return OutcomeEvent(
            requestID: request.requestID,
            operation: Int.random(in: 0..<10, using: &random) == 0 ? nil : request.operation.rawValue,
            provider: random.pick(from: ["hotpepper", "google-places", "of-a-newer-worker", nil]),
            sessionID: "session", body: body(of: request, using: &random),
            receivedAt: hasTimes ? receivedAt : nil,
            completedAt: hasTimes ? WallTime(milliseconds: receivedAt.milliseconds + 1) : nil,
            attempts: Bool.random(using: &random) ? 1 : nil)
    }

    private static func body(of request: SearchRequest, using random: inout SplitMix64) -> OutcomeEvent.Body {
        let code = random.pick(from: ["timeout", "superseded", "invalid-request"])
        guard Int.random(in: 0..<3, using: &random) > 0 else {
            return .failed(
                .init(code: code, message: "message \(Int.random(in: 0..<3, using: &random))", isRetryable: true))
        }

        var result = SearchOutcome.Result()
        switch request.operation {
        case .search:
            for _ in 0..<Int.random(in: 0..<4, using: &random) { result.places.append(place(using: &random)) }
            result.nextPageToken = random.pick(from: tokens)
            result.attributions = ["credit \(Int.random(in: 0..<2, using: &random))"]
        case .details: result.places.append(place(using: &random))
        case .photo: result.photoURL = "https://img.example/\(Int.random(in: 0..<9, using: &random)).jpg"
        }
        return .completed(result)
    }

    private static func place(using random: inout SplitMix64) -> Place {
        let number = Int.random(in: 0..<4, using: &random)
        return Place(
            id: "p\(number)", provider: Bool.random(using: &random) ? .hotpepper : .googlePlaces,
            name: "place \(number)",
            address: Bool.random(using: &random) ? "address \(Int.random(in: 0..<9, using: &random))" : nil,
            rating: Bool.random(using: &random) ? 4 : nil)
    }
}

extension SplitMix64 {
    /// Returns one of the choices, of which there must be at least one.
    fileprivate mutating func pick<Choice>(from choices: [Choice]) -> Choice {
        choices[Int.random(in: choices.indices, using: &self)]
    }
}
