import Basics
import QuotaSharing
import Resilience
import TestSupport
import Testing

@testable import LocationSearch
@testable import ProviderCalls

/// The expiry of requests: no call is made for an expired one, even after a wait.
extension SearchWorkerTests {
    private static let refusedKey = SearchError(.unauthorized, "key refused", httpStatus: 403)

    /// Returns a worker that parks requests, and whose provider has just rejected its key for five minutes.
    private func shutWorker(_ service: ScriptedService) throws -> SearchActor {
        let worker = worker { $0.whenOpen = .hold }
        try ask(worker, [service])
        return worker
    }

    private func error(_ report: SearchReport) throws -> SearchError {
        guard case .failure(let error) = report.result else { throw NotInTime(description: "it was answered") }
        return error
    }

    @Test func `A parked request ends as expired`() throws {
        let service = ScriptedService { $0 == 1 ? .failure(Self.refusedKey) : .success(Self.found) }
        let worker = try shutWorker(service)
        let start = time.now

        let report = try begin(worker, [service], lastCall: start + .seconds(4)).finish()
        #expect(code(report) == .expired)
        #expect(report.attempts == 0)
        #expect(start.duration(to: time.now) < .seconds(5))
        #expect(service.calls == 1)
        #expect(try error(report).message.contains("while it waited for calls to hotpepper"))
        #expect(worker.statuses.first?.held == 0)
    }

    @Test func `A parked request is served before its expiry`() throws {
        let service = ScriptedService { $0 == 1 ? .failure(Self.refusedKey) : .success(Self.found) }
        let worker = try shutWorker(service)

        let lastCall = time.now + .seconds(400)
        let search = begin(worker, [service], lastCall: lastCall)
        #expect(worker.statuses.first?.held == 1)
        time.run(for: .seconds(300))
        #expect(try code(search.finish(within: .zero)) == nil)
        #expect(service.calls == 2)
    }

    /// Parking a request extends its deadline, but never its expiry.
    @Test func `The call of a parked request ends at its expiry`() throws {
        let expiry = time.now + .seconds(302)
        let service = ScriptedService { $0 == 1 ? .failure(Self.refusedKey) : .success(Self.found) }
        let worker = worker { $0.whenOpen = .hold }
        try ask(worker, [service])

        let search = begin(worker, [service], lastCall: expiry, expiry: expiry)
        #expect(worker.statuses.first?.held == 1)
        time.run(for: .seconds(300))
        #expect(try code(search.finish(within: .zero)) == nil)
        #expect(service.deadlines.last?.instant == expiry)
    }

    @Test func `A waiting request is not called after the latest start of its call`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = worker {
            $0.rateLimit = RateLimit(perSecond: 0.5, burst: 1)
            $0.share = .perProcess(loops: 1)
        }
        #expect(try code(ask(worker, [service], request("first"))) == nil)

        // The token comes after two seconds: before the deadline, and after the latest start of the call.
        let lastCall = time.now + .seconds(1)
        let report = try begin(worker, [service], request("second"), lastCall: lastCall).finish()
        #expect(code(report) == .rateLimited)
        #expect(service.calls == 1)
    }

    @Test func `A failed call is not retried after the latest start of a call`() throws {
        let service = ScriptedService { [time] _ in
            time.freeze(for: .seconds(1))
            return .failure(Self.failed)
        }
        let lastCall = time.now + .milliseconds(500)
        let worker = worker()
        let report = try begin(worker, [service], lastCall: lastCall).finish()
        #expect(code(report) == .upstreamUnavailable)
        #expect(service.calls == 1)
    }

    /// After a candidate's failure the request goes to the next one, unless it has expired by then.
    @Test func `An expired request is not passed to the next provider`() throws {
        let failing = ScriptedService(.hotpepper) { [time] _ in
            time.freeze(for: .seconds(1))
            return .failure(Self.failed)
        }
        let other = ScriptedService(.googlePlaces) { _ in .success(Self.found) }
        let lastCall = time.now + .milliseconds(500)
        let report = try ask(worker { $0.retry.maxAttempts = 1 }, [failing, other], lastCall: lastCall)
        #expect(code(report) == .expired)
        #expect(report.attempts == 1)
        #expect(other.calls == 0)
    }
}
