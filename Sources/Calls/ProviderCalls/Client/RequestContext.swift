public import Basics
public import LocationSearch
internal import Synchronization

/// One request's way through the worker: whether a provider was called for it, and when, its steps, and the trace that its calls
/// belong to.
///
/// The runtime makes it with the request, and calls note in it. Until one has, abandoning the request costs nothing.
/// Safe to use from any thread.
public final class RequestContext: Sendable {
    /// Stands for a call that was not made.
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

    /// - Parameter start: the receipt of the request.
    /// - Parameter flow: the line in which the request's calls wait.
    /// - Parameter keepsSteps: true where the outcome is to name the request's steps.
    public init(since start: Instant, flow: Flow = .standard, keepsSteps: Bool = false) {
        self.start = start
        tenant = flow.tenant
        isBatch = Atomic(flow.requestClass == .batch)
        self.keepsSteps = keepsSteps
    }

    /// The line in which the request's calls wait. Its class is that of the most urgent request that waits for them.
    public var flow: Flow { Flow(isBatch.load(ordering: .relaxed) ? .batch : .interactive, tenant: tenant) }

    /// Has the request's calls wait as interactive ones do, because such a request needs their answer too.
    func becomeInteractive() { isBatch.store(false, ordering: .relaxed) }

    public var hasCalled: Bool { firstCall.load(ordering: .relaxed) != Self.none }

    /// The time from the receipt of the request to its first call; `nil` while there is none.
    public var wait: Duration? {
        let nanoseconds = firstCall.load(ordering: .relaxed)
        return nanoseconds == Self.none ? nil : .nanoseconds(nanoseconds)
    }

    /// - Parameter instant: when the call begins.
    func noteCall(at instant: Instant) {
        guard !hasCalled else { return }
        firstCall.store(start.duration(to: instant).wholeNanoseconds, ordering: .relaxed)
    }

    /// The trace that the request's calls belong to; `nil` for a request that is not traced.
    ///
    /// The flag is asked first, because loading the reference costs more than all else that is done for most requests here.
    var trace: SearchTrace? { isFollowed.load(ordering: .acquiring) ? followed.load() : nil }

    /// Has each call for the request be a span of the trace. The first trace counts.
    public func follow(_ trace: SearchTrace) {
        _ = followed.storeIfNil(trace)
        isFollowed.store(true, ordering: .releasing)
    }

    /// The steps that have ended so far; `nil` where none are kept.
    public var steps: RequestSteps? { keepsSteps ? stepsSoFar.withLock { $0 } : nil }

    /// Notes a step that has ended.
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
