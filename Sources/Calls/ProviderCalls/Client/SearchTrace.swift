import Basics
public import LocationSearch
import Resilience
public import Tracing

/// The trace of one search, in which each call to a provider is a span. Safe to use from any thread.
public final class SearchTrace: Sendable {
    private let tracer: any Tracer
    private let context: ServiceContext

    /// - Parameter context: the context of the search's span.
    public init(tracer: any Tracer, context: ServiceContext) {
        self.tracer = tracer
        self.context = context
    }

    /// Makes a call within a span, which is `CallSpan.current` during the call.
    /// - Parameter number: the number of the call within its request, from 1.
    func call(
        for request: SearchRequest, to service: any PlaceService, followUp: FollowUpCall?, before deadline: Deadline,
        number: Int,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(SearchError) -> ProviderReply {
        let provider = service.id.rawValue
        let span = tracer.startSpan(provider, context: context, ofKind: .client)
        span.updateAttributes { attributes in
            attributes["locsearch.request.id"] = request.requestID
            attributes["locsearch.provider"] = provider
            attributes["locsearch.call.number"] = number
        }

        let result = await CallSpan.$current.withValue(span) { () async -> Result<ProviderReply, SearchError> in
            _ = isolation  // see docs/internals/concurrency.md, 3
            do throws(SearchError) {
                return .success(
                    try await service.call(for: request, followUp: followUp, before: deadline))
            } catch {
                return .failure(error)
            }
        }

        if case .failure(let error) = result { span.note(error, isCancelled: Task.isCancelled) }
        span.end()
        return try result.get()
    }
}

extension Span {
    /// Records the failure of the step. Error texts hold no API key and no bytes of a record.
    /// - Parameter isCancelled: true if the step's task was cancelled, so that the failure is no evidence about the provider.
    public func note(_ error: SearchError, isCancelled: Bool = false) {
        updateAttributes { attributes in
            attributes["error.type"] = isCancelled ? "cancelled" : error.code.rawValue
            if let status = error.providerStatus { attributes["locsearch.provider.status"] = status }
        }
        setStatus(SpanStatus(code: .error, message: error.message))
    }
}
