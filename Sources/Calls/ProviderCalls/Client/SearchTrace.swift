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

    /// Begins an HTTP call within a span, which is `CallSpan.current` while it begins.
    /// - Parameter isCancelled: asked at the end of the call.
    func begin(
        _ call: SharedCall, isCancelled: @escaping @Sendable () -> Bool, then end: @escaping ProviderCompletion
    ) -> (any Cancellable)? {
        let provider = call.service.id.rawValue
        let span = tracer.startSpan(provider, context: context, ofKind: .client)
        span.updateAttributes { attributes in
            attributes["locsearch.request.id"] = call.search.request.requestID
            attributes["locsearch.provider"] = provider
            attributes["locsearch.call.number"] = call.cost.attempts
        }

        return CallSpan.$current.withValue(span) {
            call.begin { result in
                if case .failure(let error) = result { span.note(error, isCancelled: isCancelled()) }
                span.end()
                end(result)
            }
        }
    }
}

extension Span {
    /// Records the failure of the step. Error texts hold no API key and no bytes of a record.
    /// - Parameter isCancelled: true if the call was cancelled, so that the failure is no evidence about the provider.
    public func note(_ error: SearchError, isCancelled: Bool = false) {
        updateAttributes { attributes in
            attributes["error.type"] = isCancelled ? "cancelled" : error.code.rawValue
            if let status = error.providerStatus { attributes["locsearch.provider.status"] = status }
        }
        setStatus(SpanStatus(code: .error, message: error.message))
    }
}
