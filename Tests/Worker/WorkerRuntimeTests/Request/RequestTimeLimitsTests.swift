import Basics
import Testing

@testable import LocationSearch
@testable import ProviderCalls
@testable import WorkerRuntime

struct RequestTimeLimitsTests {
    private let now = Instant(nanoseconds: 1_000_000_000)
    private let request = SearchRequest(requestID: "r-1")

    @Test func `No call begins after the earlier of age and expiry`() throws {
        let limits = RequestTimeLimits(deadline: .seconds(5), maxDeadline: .seconds(30), maxAge: .seconds(60))

        let aged = try limits.deadlines(of: request, age: .seconds(20), timeToExpiry: nil, at: now)
        #expect(aged == RequestDeadlines(Deadline(now + .seconds(5)), lastCall: now + .seconds(40)))

        let both = try limits.deadlines(of: request, age: .seconds(20), timeToExpiry: .seconds(10), at: now)
        #expect((both.lastCall, both.expiry) == (now + .seconds(10), now + .seconds(10)))

        // The clock of the producer may be ahead.
        let young = try limits.deadlines(of: request, age: .seconds(-20), timeToExpiry: .seconds(100), at: now)
        #expect((young.lastCall, young.expiry) == (now + .seconds(60), now + .seconds(100)))

        let plain = RequestTimeLimits(deadline: .seconds(5), maxDeadline: .seconds(30))
        let unlimited = try plain.deadlines(of: request, age: .seconds(20), timeToExpiry: nil, at: now)
        #expect(unlimited == RequestDeadlines(Deadline(now + .seconds(5))))
    }

    /// An expired request stays expired if it is sent again unchanged, so the text must not suggest that.
    @Test func `Texts of expired requests agree with their flag`() throws {
        let limits = RequestTimeLimits(deadline: .seconds(5), maxDeadline: .seconds(30), maxAge: .seconds(60))
        var errors = [SearchError.overWhileWaiting(for: .hotpepper)]
        for (age, expiry) in [(61, nil), (1, -1)] as [(Int64, Int64?)] {
            do throws(SearchError) {
                _ = try limits.deadlines(
                    of: request, age: .seconds(age), timeToExpiry: expiry.map { .seconds($0) }, at: now)
                Issue.record("it has not expired")
            } catch {
                errors.append(error)
            }
        }
        for error in errors {
            #expect(error.code == .expired)
            #expect(!error.code.isRetryable)
            #expect(!error.message.contains("send it again"))
            #expect(error.message.contains("send a new request"))
        }
    }
}
