internal import EventContract
package import Tracing

/// Starts the trace of each request.
package final class RequestTracing: Sendable {
    private let tracer: any Tracer
    private let consumerGroup: String

    /// - Parameter tracer: decides which requests are traced.
    /// - Parameter consumerGroup: the worker's consumer group.
    package init(tracer: any Tracer, consumerGroup: String) {
        self.tracer = tracer
        self.consumerGroup = consumerGroup
    }

    /// Begins the trace of a request, as a child of the trace that its record names.
    ///
    /// Not inlined, because few workers trace and every request passes the call site.
    /// - Parameter topicWait: the time that the record waited in its topic; `nil` if its timestamp is unknown.
    /// - Returns: `nil` for a request that is not traced.
    @inline(never)
    func begin(_ envelope: RequestEnvelope, requestID: String, bodySize: Int, topicWait: Duration?) -> RequestTrace? {
        var context = ServiceContext.topLevel
        if let trace = envelope.trace {
            tracer.extract(TraceHeaders(trace), into: &context, using: TraceHeaders.access)
        }
        let source = envelope.source
        let span = tracer.startSpan("process \(source.topic)", context: context, ofKind: .consumer)
        guard span.isRecording else { return nil }

        span.updateAttributes { attributes in
            attributes["messaging.system"] = "kafka"
            attributes["messaging.operation.name"] = "process"
            attributes["messaging.operation.type"] = "process"
            attributes["messaging.destination.name"] = source.topic
            attributes["messaging.destination.partition.id"] = "\(source.partition)"
            attributes["messaging.kafka.offset"] = source.offset
            attributes["messaging.consumer.group.name"] = consumerGroup
            attributes["messaging.message.body.size"] = bodySize
            attributes["locsearch.request.id"] = requestID
            if let topicWait { attributes["locsearch.topic.wait"] = topicWait / .seconds(1) }
        }
        return RequestTrace(
            tracer: tracer, process: span, requestID: requestID, continuesTrace: envelope.trace != nil)
    }
}
