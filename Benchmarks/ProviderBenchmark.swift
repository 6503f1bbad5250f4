internal import Basics
import EventLoop
import HTTPTransport
import LocationSearch
import PlaceProviders
import ProviderCalls
import Resilience

/// The cost of building a provider's request and decoding its answer.
enum ProviderBenchmark {
    /// Builds a request to Hot Pepper and decodes an answer of 20 shops, 56 KB.
    static func decode(_ count: Int) async throws {
        let service = hotpepper(answering: Samples.answer(shops: 20))
        for _ in 0..<count {
            let reply = try await service.call(
                for: Samples.search, followUp: nil, before: Deadline(.now + .seconds(5)))
            guard case .answer(let answer) = reply, answer.places.count == 20 else {
                throw BenchmarkError(message: "not 20 places")
            }
        }
    }

    /// - Parameter loop: calls end in its next iteration; `nil`: at once.
    static func hotpepper(answering answer: HTTPResponse, on loop: EventLoop? = nil) -> HotpepperService {
        HotpepperService(
            http: CannedHTTP(answer: answer, loop: loop),
            configuration: ProviderConfiguration(
                baseURL: "https://webservice.recruit.co.jp", apiKey: "0123456789abcdef"))
    }
}

/// Returns the same answer to every call.
struct CannedHTTP: HTTPSending {
    private struct Call: Cancellable {
        func cancel() {}
    }

    let answer: HTTPResponse
    let loop: EventLoop?

    func begin(
        _ request: HTTPRequest, before deadline: Instant,
        then end: @escaping HTTPCompletion
    ) -> (any Cancellable)? {
        guard let loop else {
            end(.success(answer))
            return nil
        }
        loop.schedule(at: .now) { end(.success(answer)) }
        return Call()
    }
}
