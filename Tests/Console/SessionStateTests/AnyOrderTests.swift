import Foundation
import LocationSearch
import TestSupport
import Testing

@testable import SessionState

/// Random histories in random orders. Each seed is one history in ten orders. A failure names its seed: set
/// `LOCSEARCH_SEED` to run only that history.
struct AnyOrderTests {
    private static let ordersOfHistory = 10

    /// Set `LOCSEARCH_PERMUTATIONS` for more seeds.
    private static let seeds: Range<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["LOCSEARCH_SEED"].flatMap({ UInt64($0) }) { return seed..<seed + 1 }

        let permutations = environment["LOCSEARCH_PERMUTATIONS"].flatMap { Int($0) } ?? 4000
        return 0..<UInt64(permutations / ordersOfHistory)
    }()

    @Test func `A session ends in the same state, whatever the order of its actions`() throws {
        for seed in Self.seeds {
            var random = SplitMix64(state: seed)
            let history = History(using: &random)
            let expected = state(after: history.actions, limits: history.limits)

            for _ in 0..<Self.ordersOfHistory {
                let reached = state(after: history.shuffled(using: &random), limits: history.limits)

                // Compared outside of the macro, which would print both states at length.
                let (showsTheSame, keepsTheSame) = (reached == expected, reached.exchanges == expected.exchanges)
                try #require(showsTheSame, "LOCSEARCH_SEED=\(seed) shows something else")
                try #require(keepsTheSame, "LOCSEARCH_SEED=\(seed) keeps something else")
            }
        }
    }

    @Test func `A state stays consistent after each action`() throws {
        for seed in Self.seeds.prefix(1000) {
            var random = SplitMix64(state: seed)
            let history = History(using: &random, requests: 40)
            var state = SessionState(limits: SessionLimits(requests: 3, unrequestedOutcomes: 2))

            for action in history.shuffled(using: &random) {
                let before = state
                Reducer.reduce(&state, action)
                try check(state, after: before, "seed \(seed)")

                let once = state
                Reducer.reduce(&state, action)
                try #require(state == once && state.revision == once.revision, "seed \(seed): an action counts once")
            }
        }
    }

    private func state(after actions: [Action], limits: SessionLimits) -> SessionState {
        var state = SessionState(limits: limits)
        for action in actions { Reducer.reduce(&state, action) }
        return state
    }

    /// Checks invariants that hold in every state.
    private func check(_ state: SessionState, after before: SessionState, _ seed: Comment) throws {
        try #require((state.revision == before.revision) == (state == before), seed)

        // Bounds: three of each operation with their requests, two without, including outcomes of unknown operations.
        try #require(state.exchanges.all.count <= 3 * 3 + 4 * 2, seed)

        // The list and the detail cannot disagree.
        let places = state.list.map { Array($0.places) } ?? []
        try #require(Set(places.map { "\($0.provider) \($0.id)" }).count == places.count, seed)
        if let place = state.selected?.place {
            let listed = places.first { $0.id == place.id && $0.provider == place.provider }
            try #require(listed == nil || listed == place, seed)
        }

        try #require(state.error?.code != "superseded", seed)
        try #require(state.list?.isSuperseded != true || state.search?.requestID != state.list?.requestID, seed)
        try #require(Set(state.inFlight.map(\.requestID)).count == state.inFlight.count, seed)
    }
}
