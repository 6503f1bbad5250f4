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

    /// Requests that share calls of one second, and their results.
    private final class Callers {
        let time: VirtualTime
        private var flight: SingleFlight?
        private let worker = NoWorker()
        var endings: [String: Ending] = [:]
        var at: [String: Duration] = [:]
        var calls = 0
        var cancelledCalls = 0
        /// The number of calls that no member waited for any more.
        private(set) var abandoned = 0
        /// The largest number of callers that resumed in one timer.
        private(set) var mostTold = 0
        private var (told, timer) = (0, 0)
        var allFail = false
        var allExpire = false
        /// True if calls wait for their grant, and make no HTTP call before their end.
        var allWait = false
        /// The number of calls that were made more urgent.
        var promoted = 0
        /// Called with the name of each member whose result is reported.
        var onTold: (String) -> Void = { _ in }
        /// The context in which all requests record their calls.
        let context = RequestContext(since: .now)
        private var members: [String: ProviderSearch] = [:]
        private var tasks: [ObjectIdentifier: Task<Void, Never>] = [:]

        init(_ time: VirtualTime, on owner: isolated Owner) {
            self.time = time
            flight = SingleFlight(
                timekeeper: time,
                start: { [self] call in
                    let task = Task.immediate(executorPreference: time) {
                        _ = owner
                        call.result = await result(of: call)
                        flight?.finish(call)
                    }
                    tasks[ObjectIdentifier(call)] = task
                },
                cancel: { [self] in
                    abandoned += 1
                    tasks[ObjectIdentifier($0)]?.cancel()
                },
                onEnd: { [self] member, call in
                    told = timer == time.timersRun ? told + 1 : 1
                    timer = time.timersRun
                    mostTold = max(mostTold, told)
                    guard let name = members.first(where: { $0.value === member })?.key else { return }
                    endings[name] = ending(of: member, in: call)
                    at[name] = time.elapsed
                    onTold(name)
                },
                onMoreUrgent: { [self] _ in promoted += 1 })
        }

        var joined: Int { flight?.joined ?? 0 }

        func ask(
            _ name: String, _ key: String = "key", within patience: Duration = .seconds(5), usefulFor: Duration? = nil,
            _ options: SearchOptions = SearchOptions(), of context: RequestContext? = nil
        ) {
            guard let flight else { return }
            var request = SearchRequest(requestID: "r", keyword: key)
            request.options = options
            let service = ScriptedService { _ in .success(ProviderAnswer()) }
            let deadlines = RequestDeadlines(
                Deadline(time.now + patience), lastCall: usefulFor.map { time.now + $0 })
            let search = ProviderSearch(
                request, at: [service], by: worker, before: deadlines,
                context: context ?? self.context, then: { _ in })
            search.takeCandidate(at: time.now)
            members[name] = search
            flight.join(search)
        }

        func cancel(_ name: String) {
            guard let search = members[name] else { return }
            search.cancel()
            flight?.leave(search, as: .cancelled)
        }

        private func ending(of search: ProviderSearch, in call: SharedCall) -> Ending {
            let isShared = call.search !== search
            return switch search.membership.end {
            case .over(.success): .value(call.cost.attempts, isShared: isShared)
            case .over(.failure(let failure)): .failed(lacksTime: failure.lacksTime, isShared: isShared)
            case .timedOut: .timedOut
            case .cancelled, nil: .cancelled
            }
        }

        private func result(of call: SharedCall) async -> SharedCall.Result {
            calls += 1
            let number = calls
            if !allWait { call.cost.attempts = number }
            defer { call.cost.attempts = number }
            let deadline = call.deadline
            await time.sleep(until: min(deadline.instant, time.now + .seconds(1)))
            if Task.isCancelled { cancelledCalls += 1 }
            if allExpire { return failure(.overWhileWaiting(for: .hotpepper), .noTime) }
            if allFail { return failure(SearchError(.upstreamRejected, "no"), .call) }
            if deadline.hasPassed(at: time.now) { return failure(.timedOut, .call) }
            return .success(ProviderAnswer())
        }

        private func failure(_ error: SearchError, _ cause: CallFailure.Cause) -> SharedCall.Result {
            .failure(CallFailure(error: error, cause: cause))
        }
    }

    /// The searches go to `SingleFlight` itself.
    private final class NoWorker: SearchExecutor {
        func begin(_ search: ProviderSearch) {}
        func cancel(_ search: ProviderSearch) {}
    }

    private func world(_ body: @Sendable (VirtualTime, Callers) throws -> Void) rethrows {
        let time = VirtualTime()
        try Owner(time).assumeIsolated { try body(time, Callers(time, on: $0)) }
    }

    @Test func `Equal queries at the same time share one call`() {
        world { time, callers in
            callers.ask("a")
            time.run(for: .milliseconds(500))
            callers.ask("b")
            callers.ask("other", "another key")
            time.run(for: .seconds(5))
            #expect(
                callers.endings == [
                    "a": .value(1, isShared: false), "b": .value(1, isShared: true),
                    "other": .value(2, isShared: false),
                ])
            #expect(callers.at["b"] == .seconds(1))
            // Results are not cached after the call.
            callers.ask("later")
            time.run(for: .seconds(5))
            #expect(callers.endings["later"] == .value(3, isShared: false))
            #expect(callers.calls == 3 && callers.joined == 1)
        }
    }

    @Test func `Equal queries share the failure of their call`() {
        world { time, callers in
            callers.allFail = true
            for name in ["a", "b", "c"] { callers.ask(name) }
            time.run(for: .seconds(5))
            #expect(
                callers.endings == [
                    "a": .failed(lacksTime: false, isShared: false), "b": .failed(lacksTime: false, isShared: true),
                    "c": .failed(lacksTime: false, isShared: true),
                ])
            #expect(callers.calls == 1)
        }
    }

    @Test func `A cancelled member leaves the call to the others`() {
        world { time, callers in
            callers.ask("first")
            callers.ask("second")
            time.run(for: .milliseconds(300))
            callers.cancel("first")
            time.run(for: .milliseconds(1))
            #expect(callers.endings == ["first": .cancelled])
            time.run(for: .seconds(5))
            #expect(callers.endings["second"] == .value(1, isShared: true))
            #expect(callers.cancelledCalls == 0)
            #expect(callers.abandoned == 0)
        }
    }

    /// A newer search of a session ends the older one, and then asks for the same.
    @Test func `A request that joins as the last member is cancelled takes over the call`() {
        world { time, callers in
            callers.ask("older")
            time.run(for: .milliseconds(300))
            callers.cancel("older")
            callers.ask("newer")
            time.run(for: .seconds(5))
            #expect(callers.endings == ["older": .cancelled, "newer": .value(1, isShared: true)])
            #expect(callers.at["older"] == .milliseconds(300))
            #expect(callers.abandoned == 0)
        }
    }

    /// A request for which a call was made is not left to the next owner of its partition, who would pay again.
    @Test func `Those who take over a call have made it`() {
        world { time, callers in
            let (joined, late) = (RequestContext(since: .now), RequestContext(since: .now))
            callers.ask("first")
            callers.ask("joined", of: joined)
            time.run(for: .milliseconds(300))
            #expect(!joined.hasCalled)
            callers.cancel("first")
            callers.ask("late", of: late)
            #expect(joined.hasCalled && late.hasCalled)
            time.run(for: .seconds(5))
        }
    }

    /// Many callers do not block the loop.
    @Test func `The results of many members are reported in steps`() {
        world { time, callers in
            for number in 0..<1000 { callers.ask("\(number)") }
            time.run(for: .seconds(1))
            #expect(callers.endings.count == 1000)
            #expect(callers.mostTold <= 64)
        }
    }

    @Test func `A call is cancelled when its last member leaves`() {
        world { time, callers in
            for name in ["a", "b"] { callers.ask(name) }
            time.run(for: .milliseconds(300))
            for name in ["a", "b"] { callers.cancel(name) }
            time.run(for: .milliseconds(1))
            #expect(callers.abandoned == 1)
            // A new caller does not join a call that is being cancelled.
            callers.ask("c")
            time.run(for: .seconds(5))
            #expect(callers.cancelledCalls == 1)
            #expect(callers.endings["c"] == .value(2, isShared: false))
        }
    }

    @Test func `A member with an earlier deadline leaves earlier`() {
        world { time, callers in
            callers.ask("a")
            callers.ask("short", within: .milliseconds(400))
            time.run(for: .seconds(5))
            #expect(callers.endings == ["a": .value(1, isShared: false), "short": .timedOut])
            #expect(callers.at["short"] == .milliseconds(400))
            #expect(callers.calls == 1)
        }
    }

    /// No call is made for an expired request, so it does not wait for a call that another request has not made yet.
    @Test func `A member leaves at the latest start of its call unless the call is made`() {
        world { time, callers in
            callers.allWait = true
            callers.ask("a")
            callers.ask("over", usefulFor: .milliseconds(400))
            time.run(for: .seconds(5))
            #expect(callers.endings["over"] == .timedOut)
            #expect(callers.at["over"] == .milliseconds(400))
            #expect(callers.endings["a"] == .value(1, isShared: false))
        }
        world { time, callers in
            callers.ask("a")
            callers.ask("over", usefulFor: .milliseconds(400))
            time.run(for: .seconds(5))
            #expect(callers.endings["over"] == .value(1, isShared: true))
        }
    }

    /// Its request may have called another provider before.
    @Test(arguments: [true, false]) func `A batch call that an interactive request joins becomes urgent`(isMade: Bool) {
        world { time, callers in
            callers.allWait = !isMade
            callers.ask("batch", of: RequestContext(since: time.now, flow: Flow(.batch)))
            callers.ask("urgent", of: RequestContext(since: time.now, flow: Flow(.interactive)))
            #expect(callers.promoted == 1)
        }
    }

    @Test func `Members with a later latest start do not fail with the first one`() {
        world { time, callers in
            callers.ask("over", usefulFor: .milliseconds(400))
            callers.ask("lasting")
            callers.allExpire = true
            time.run(for: .milliseconds(900))
            time.run(for: .milliseconds(100))
            callers.allExpire = false
            time.run(for: .seconds(5))
            #expect(callers.endings["over"] == .failed(lacksTime: true, isShared: false))
            #expect(callers.endings["lasting"] == .value(2, isShared: false))
        }
    }

    /// A call of many members fails for lack of time. The last member is cancelled before the failure is reported to it.
    @Test func `A member that is cancelled before its report makes no further call`() {
        world { time, callers in
            callers.ask("over", usefulFor: .milliseconds(400))
            for number in 0..<100 { callers.ask("\(number)") }
            callers.allExpire = true
            callers.onTold = { if $0 == "over" { callers.cancel("99") } }
            time.run(for: .seconds(1))
            callers.allExpire = false
            time.run(for: .seconds(5))
            #expect(callers.endings["99"] == .failed(lacksTime: true, isShared: true))
            #expect(callers.endings["98"] == .value(2, isShared: true))
            #expect(callers.calls == 2)
        }
    }

    /// Provider requests are bytes: texts that are only canonically equivalent may find different places.
    @Test func `Keywords that differ only in normalization share no call`() {
        let (composed, decomposed) = ("\u{304C}\u{3093}\u{3053}", "\u{304B}\u{3099}\u{3093}\u{3053}")
        #expect(composed == decomposed)
        world { time, callers in
            callers.ask("a", composed)
            callers.ask("b", decomposed)
            time.run(for: .seconds(5))
            #expect(callers.calls == 2)
            #expect(callers.endings["b"] == .value(2, isShared: false))
        }
    }

    static let options = [
        SearchOptions(ranking: .distance), SearchOptions(ranking: .popularity), SearchOptions(categories: ["cafe"]),
        SearchOptions(categories: ["cafe", "bar"]), SearchOptions(excludedCategories: ["cafe"]),
        SearchOptions(parts: [.openingHours]), SearchOptions(categories: ["\u{304C}"]),
        SearchOptions(categories: ["\u{304B}\u{3099}"]),
    ]
    @Test func `Requests share a call only if they want the same options`() {
        world { time, callers in
            callers.ask("none")
            for (number, option) in Self.options.enumerated() {
                for name in ["first", "second"] { callers.ask("\(name) \(number)", "key", option) }
            }
            time.run(for: .seconds(5))
            #expect(callers.calls == 1 + Self.options.count)
            for number in Self.options.indices {
                #expect(callers.endings["second \(number)"] == .value(2 + number, isShared: true))
            }
        }
    }

    /// The call has the deadline of the first caller. Callers with more time must not fail because of that.
    @Test func `Members with later deadlines share a second call`() {
        world { time, callers in
            callers.ask("short", within: .milliseconds(400))
            for name in ["a", "b"] { callers.ask(name) }
            time.run(for: .seconds(5))
            #expect(callers.endings["short"] == .failed(lacksTime: true, isShared: false))
            #expect(callers.endings["a"] == .value(2, isShared: false))
            #expect(callers.endings["b"] == .value(2, isShared: true))
            #expect(callers.calls == 2)
        }
    }
}
