internal import Basics
import EventContract
import LocationSearch
import PlaceProviders
import ProviderCalls
import Resilience

/// The cost of reading a request's record and encoding its outcome.
enum EventBenchmark {
    /// Decodes the record of a request.
    static func readRequest(_ count: Int) throws {
        let decoder = RequestDecoder()
        for _ in 0..<count {
            let decoded = try decoder.decode(Samples.request)
            guard decoded.request.limit == 20 else { throw BenchmarkError(message: "not the request") }
        }
    }

    /// Encodes the outcome of a search that found 20 places.
    static func encode(_ count: Int) async throws {
        let service = ProviderBenchmark.hotpepper(answering: Samples.answer(shops: 20))
        let reply = try await service.call(for: Samples.search, followUp: nil, before: Deadline(.now + .seconds(5)))
        guard case .answer(let answer) = reply else { throw BenchmarkError(message: "no answer") }

        var result = Result<ProviderAnswer, SearchError>.success(answer)
        let outcome = SearchPresenter().present(
            &result, of: [.hotpepper], costing: CallCost(attempts: 1), for: Samples.search)
        let envelope = try RequestDecoder().decode(Samples.request).envelope
        var encoder = OutcomeEncoder(seed: 1)
        let time = WallTime(milliseconds: 1_790_000_000_000)
        var steps = RequestSteps(topicWait: .milliseconds(4))
        steps.append(RequestStep(.call, .hotpepper, end: .answered, start: 300_000, duration: 87_000_000))
        for _ in 0..<count {
            let event = encoder.encode(outcome, for: envelope, receivedAt: time, completedAt: time, steps: steps)
            guard event.value?.count ?? 0 > 5000 else { throw BenchmarkError(message: "a short outcome") }
        }
    }
}
