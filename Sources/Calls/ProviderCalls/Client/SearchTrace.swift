public import LocationSearch
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

    /// Begins the span of an HTTP call.
    /// - Parameter number: the number of the call among those for the search, from 1.
    func beginCall(_ number: Int, to provider: ProviderID, of requestID: String) -> any Span {
        let span = tracer.startSpan(provider.rawValue, context: context, ofKind: .client)
        span.updateAttributes { attributes in
            attributes["locsearch.request.id"] = requestID
            attributes["locsearch.provider"] = provider.rawValue
            attributes["locsearch.call.number"] = number
        }
        return span
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
