public import Basics
public import LocationSearch
internal import Synchronization

/// The context of one request in the worker: the time of its first provider call, its steps, and its trace.
///
/// The runtime creates it with the request, and calls are recorded in it. While no call is recorded, abandoning the request
/// is free. Safe to use from any thread.
public final class RequestContext: Sendable {
    /// The value of `firstCall` before the first call.
    private static let none = Int64.min

    private let start: Instant
    private let tenant: String
    private let isBatch: Atomic<Bool>
    /// The time from `start` to the first call, in nanoseconds.
    private let firstCall = Atomic<Int64>(RequestContext.none)
    private let isFollowed = Atomic<Bool>(false)
    private let followed = AtomicLazyReference<SearchTrace>()
    private let keepsSteps: Bool
    private let stepsSoFar = Mutex(RequestSteps())

    /// - Parameter start: the time at which the request was received.
    /// - Parameter flow: the class and tenant under which the request's calls wait.
    /// - Parameter keepsSteps: whether the outcome will list the request's steps.
    public init(since start: Instant, flow: Flow = .standard, keepsSteps: Bool = false) {
        self.start = start
        tenant = flow.tenant
        isBatch = Atomic(flow.requestClass == .batch)
        self.keepsSteps = keepsSteps
    }

    /// The class and tenant under which the request's calls wait. The class is that of the most urgent request that waits for them.
    public var flow: Flow { Flow(isBatch.load(ordering: .relaxed) ? .batch : .interactive, tenant: tenant) }

    /// Moves the request's calls to the interactive class, because an interactive request needs their answer too.
    func becomeInteractive() { isBatch.store(false, ordering: .relaxed) }

    public var hasCalled: Bool { firstCall.load(ordering: .relaxed) != Self.none }

    /// The time from the receipt of the request to its first call; `nil` before that call.
    public var wait: Duration? {
        let nanoseconds = firstCall.load(ordering: .relaxed)
        return nanoseconds == Self.none ? nil : .nanoseconds(nanoseconds)
    }

    /// - Parameter instant: the start of the call.
    func noteCall(at instant: Instant) {
        guard !hasCalled else { return }
        firstCall.store(start.duration(to: instant).wholeNanoseconds, ordering: .relaxed)
    }

    /// The request's trace; `nil` for a request that is not traced.
    ///
    /// The flag is checked first, because loading the reference is the most expensive step here for most requests.
    var trace: SearchTrace? { isFollowed.load(ordering: .acquiring) ? followed.load() : nil }

    /// Records each call for the request as a span of the trace. Only the first trace has an effect.
    public func follow(_ trace: SearchTrace) {
        _ = followed.storeIfNil(trace)
        isFollowed.store(true, ordering: .releasing)
    }

    /// The steps that have ended so far; `nil` if steps are not recorded.
    public var steps: RequestSteps? { keepsSteps ? stepsSoFar.withLock { $0 } : nil }

    /// Records a step that has ended.
    @inline(__always)
    func noteStep(
        _ kind: RequestStep.Kind, of provider: ProviderID, from begin: Instant, to end: Instant,
        as how: RequestStep.End = .over
    ) {
        if keepsSteps { keepStep(kind, of: provider, from: begin, to: end, as: how) }
    }

    @inline(never)
    private func keepStep(
        _ kind: RequestStep.Kind, of provider: ProviderID, from begin: Instant, to end: Instant, as how: RequestStep.End
    ) {
        let step = RequestStep(
            kind, provider, end: how, start: begin.nanoseconds.saturatingSubtracting(start.nanoseconds),
            duration: end.nanoseconds.saturatingSubtracting(begin.nanoseconds))
        stepsSoFar.withLock { $0.append(step) }
    }
}

extension RequestStep.End {
    /// The end of a step that failed.
    init(_ error: SearchError) {
        self = .failed(error.code, httpStatus: error.httpStatus.flatMap { Int16(exactly: $0) })
    }
}
