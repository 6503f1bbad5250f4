import Synchronization
import Tracing

@testable import TraceExport

/// Keeps the spans that a tracer emits.
final class SpanBox: Sendable {
    private let state = Mutex<[RecordedSpan]>([])
    var spans: [RecordedSpan] { state.withLock { $0 } }
    func add(_ span: RecordedSpan) { state.withLock { $0.append(span) } }

    func tracer(sampleRatio: Double = 1, seed: UInt64 = 1) -> SpanTracer {
        SpanTracer(sampleRatio: sampleRatio, seed: seed) { self.add($0) }
    }
}

/// Headers as a dictionary.
struct DictionaryAccess: Extractor, Injector {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
}

extension SpanTracer {
    /// Returns the context of the headers.
    func context(_ headers: [String: String]) -> ServiceContext {
        var context = ServiceContext.topLevel
        extract(headers, into: &context, using: DictionaryAccess())
        return context
    }

    /// Returns the headers of the context.
    func headers(_ context: ServiceContext) -> [String: String] {
        var headers: [String: String] = [:]
        inject(context, into: &headers, using: DictionaryAccess())
        return headers
    }
}

/// A point in time chosen by a test.
struct FixedInstant: TracerInstant {
    let nanosecondsSinceEpoch: UInt64
    static func < (left: Self, right: Self) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
}
