import Basics
import Resilience
import TestSupport
import Testing

@testable import LocationSearch
@testable import ProviderCalls

struct SingleFlightTests {
    private enum Ending: Equatable {
        /// The number of the call that was answered.
        case value(Int, isShared: Bool)
        case failed(lacksTime: Bool, isShared: Bool)
        case timedOut, cancelled
    }

    /// Callers of one thing that takes a second, and what came of them.
    private final class Callers {
        let time: VirtualTime
        let sharing: SingleFlight
        var endings: [String: Ending] = [:]
        var at: [String: Duration] = [:]
        var calls = 0
        var cancelledCalls = 0
        var allFail = false
        var allExpire = false
        /// What all requests note their calls in.
        let context = RequestContext(since: .now)

        init(_ time: VirtualTime) {
            self.time = time
            sharing = SingleFlight(timekeeper: time, taskExecutor: time)
        }

        @discardableResult
        func ask(
            _ name: String, _ key: String = "key", within patience: Duration = .seconds(5),
            usefulFor: Duration? = nil, on owner: isolated Owner
        ) -> Task<Void, Never> {
            Task.immediate(executorPreference: time) {
                _ = owner
                let lifetime = usefulFor.map { RequestLifetime(lastCall: time.now + $0) }
                endings[name] = await ending(key, before: Deadline(time.now + patience), lifetime: lifetime)
                at[name] = time.elapsed
            }
        }

        private func ending(
            _ key: String, before deadline: Deadline, lifetime: RequestLifetime?
        ) async -> Ending {
            let request = SearchRequest(requestID: "r", keyword: key)
            let service = ScriptedService { _ in .success(ProviderAnswer()) }
            let addressed = AddressedRequest(request, to: [service], lifetime: lifetime, context: context)
            let query = ProviderQuery(addressed, to: service, hasAlternative: false)
            do throws(SharedCallError) {
                let (answer, isShared) = try await sharing.run(query, before: deadline, call)
                return .value(answer.cost.attempts, isShared: isShared)
            } catch {
                switch error {
                case .failed(let failure, let isShared):
                    return .failed(lacksTime: failure.lacksTime, isShared: isShared)
                case .timedOut: return .timedOut
                case .cancelled: return .cancelled
                }
            }
        }

        private func call(_ deadline: Deadline) async throws(ProviderFailure) -> ProviderResponse {
            calls += 1
            let number = calls
            await time.sleep(until: min(deadline.instant, time.now + .seconds(1)))
            if Task.isCancelled { cancelledCalls += 1 }
            if allExpire {
                let failure = CallFailure(error: .overWhileWaiting(for: .hotpepper), cause: .noTime)
                throw ProviderFailure(failure, cost: CallCost())
            }
            if allFail {
                let failure = CallFailure(error: SearchError(.upstreamRejected, "no"), cause: .call)
                throw ProviderFailure(failure, cost: CallCost())
            }
            if deadline.hasPassed(at: time.now) {
                throw ProviderFailure(CallFailure(error: .timedOut, cause: .call), cost: CallCost())
            }
            return ProviderResponse(answer: ProviderAnswer(), cost: CallCost(attempts: number))
        }
    }

    private func world(_ body: @Sendable (VirtualTime, isolated Owner, Callers) throws -> Void) rethrows {
        let time = VirtualTime()
        try Owner(time).assumeIsolated { try body(time, $0, Callers(time)) }
    }

    @Test func callersOfOneKeyAtTheSameTimeShareOneCall() {
        world { time, owner, callers in
            callers.ask("a", on: owner)
            time.run(for: .milliseconds(500))
            callers.ask("b", on: owner)
            callers.ask("other", "another key", on: owner)
            time.run(for: .seconds(5))
            #expect(
                callers.endings == [
                    "a": .value(1, isShared: false), "b": .value(1, isShared: true),
                    "other": .value(2, isShared: false),
                ])
            #expect(callers.at["b"] == .seconds(1))
            // Nothing is kept beyond the flight.
            callers.ask("later", on: owner)
            time.run(for: .seconds(5))
            #expect(callers.endings["later"] == .value(3, isShared: false))
            #expect(callers.sharing.statistics == .init(calls: 3, joined: 1))
        }
    }

    @Test func callersOfOneKeyShareItsFailure() {
        world { time, owner, callers in
            callers.allFail = true
            for name in ["a", "b", "c"] { callers.ask(name, on: owner) }
            time.run(for: .seconds(5))
            #expect(
                callers.endings == [
                    "a": .failed(lacksTime: false, isShared: false), "b": .failed(lacksTime: false, isShared: true),
                    "c": .failed(lacksTime: false, isShared: true),
                ])
            #expect(callers.calls == 1)
        }
    }

    @Test func cancelledCallerLeavesTheOthersTheirCall() {
        world { time, owner, callers in
            let first = callers.ask("first", on: owner)
            callers.ask("second", on: owner)
            time.run(for: .milliseconds(300))
            first.cancel()
            time.settle()
            #expect(callers.endings == ["first": .cancelled])
            time.run(for: .seconds(5))
            #expect(callers.endings["second"] == .value(1, isShared: true))
            #expect(callers.cancelledCalls == 0)
            #expect(callers.sharing.statistics.abandoned == 0)
        }
    }

    @Test func callIsCancelledWhenItsLastCallerLeaves() {
        world { time, owner, callers in
            let tasks = ["a", "b"].map { callers.ask($0, on: owner) }
            time.run(for: .milliseconds(300))
            for task in tasks { task.cancel() }
            time.settle()
            #expect(callers.sharing.statistics.abandoned == 1)
            // Whoever comes now does not join a call that is being broken off.
            callers.ask("c", on: owner)
            time.run(for: .seconds(5))
            #expect(callers.cancelledCalls == 1)
            #expect(callers.endings["c"] == .value(2, isShared: false))
        }
    }

    @Test func joinerWithEarlierDeadlineLeavesEarlier() {
        world { time, owner, callers in
            callers.ask("a", on: owner)
            callers.ask("short", within: .milliseconds(400), on: owner)
            time.run(for: .seconds(5))
            #expect(callers.endings == ["a": .value(1, isShared: false), "short": .timedOut])
            #expect(callers.at["short"] == .milliseconds(400))
            #expect(callers.calls == 1)
        }
    }

    /// Nobody pays for a request that is over, so it does not wait for a call that another request has yet to make.
    @Test func joinerLeavesAtTheEndOfItsLifetimeUnlessTheCallIsMade() {
        world { time, owner, callers in
            callers.ask("a", on: owner)
            callers.ask("over", usefulFor: .milliseconds(400), on: owner)
            time.run(for: .seconds(5))
            #expect(callers.endings["over"] == .timedOut)
            #expect(callers.at["over"] == .milliseconds(400))
            #expect(callers.endings["a"] == .value(1, isShared: false))
        }
        world { time, owner, callers in
            callers.ask("a", on: owner)
            callers.context.noteCall(at: time.now)
            callers.ask("over", usefulFor: .milliseconds(400), on: owner)
            time.run(for: .seconds(5))
            #expect(callers.endings["over"] == .value(1, isShared: true))
        }
    }

    @Test func joinersOfLongerLifetimeAreNotFailedForTheFirstCallersSake() {
        world { time, owner, callers in
            callers.ask("over", usefulFor: .milliseconds(400), on: owner)
            callers.ask("lasting", on: owner)
            callers.allExpire = true
            time.run(for: .milliseconds(900))
            time.run(for: .milliseconds(100))
            callers.allExpire = false
            time.run(for: .seconds(5))
            #expect(callers.endings["over"] == .failed(lacksTime: true, isShared: false))
            #expect(callers.endings["lasting"] == .value(2, isShared: false))
        }
    }

    /// Providers are asked in bytes: texts that are only canonically equivalent may find different places.
    @Test func keywordsThatDifferOnlyInNormalizationShareNoCall() {
        let (composed, decomposed) = ("\u{304C}\u{3093}\u{3053}", "\u{304B}\u{3099}\u{3093}\u{3053}")
        #expect(composed == decomposed)
        world { time, owner, callers in
            callers.ask("a", composed, on: owner)
            callers.ask("b", decomposed, on: owner)
            time.run(for: .seconds(5))
            #expect(callers.calls == 2)
            #expect(callers.endings["b"] == .value(2, isShared: false))
        }
    }

    /// The call has the first one's deadline. Those with more time are not failed for want of his.
    @Test func joinersWithLaterDeadlinesShareASecondCall() {
        world { time, owner, callers in
            callers.ask("short", within: .milliseconds(400), on: owner)
            for name in ["a", "b"] { callers.ask(name, on: owner) }
            time.run(for: .seconds(5))
            #expect(callers.endings["short"] == .failed(lacksTime: true, isShared: false))
            #expect(callers.endings["a"] == .value(2, isShared: false))
            #expect(callers.endings["b"] == .value(2, isShared: true))
            #expect(callers.calls == 2)
            #expect(callers.sharing.statistics.again == 2)
        }
    }
}
