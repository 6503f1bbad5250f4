internal import Basics
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

    static func hotpepper(answering answer: HTTPResponse) -> HotpepperService {
        HotpepperService(
            http: CannedHTTP(answer: answer),
            configuration: ProviderConfiguration(
                baseURL: "https://webservice.recruit.co.jp", apiKey: "0123456789abcdef"))
    }
}

/// Returns the same answer to every call, after one suspension, because calls suspend for a provider too.
struct CannedHTTP: HTTPSending {
    let answer: HTTPResponse

    func send(
        _ request: HTTPRequest, before deadline: Instant,
        receiving receive: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(HTTPError) {
        await Task.yield()
        receive(answer)
    }
}
