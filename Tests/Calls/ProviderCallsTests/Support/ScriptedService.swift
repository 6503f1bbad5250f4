import Basics
import Resilience
import Synchronization
import TestSupport

@testable import LocationSearch
@testable import ProviderCalls

/// A provider with scripted answers, which counts its calls.
final class ScriptedService: PlaceService {
    let id: ProviderID
    private let script: @Sendable (Int) async -> Result<ProviderAnswer, SearchError>
    private let count = Mutex(0)
    private let cancellations = Mutex(0)

    init(
        _ id: ProviderID = .hotpepper, _ script: @escaping @Sendable (Int) async -> Result<ProviderAnswer, SearchError>
    ) {
        self.id = id
        self.script = script
    }

    var calls: Int { count.withLock { $0 } }
    var cancelled: Int { cancellations.withLock { $0 } }

    func refusal(of request: SearchRequest) -> SearchError? { nil }

    func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass { .hotpepper }

    func call(
        for request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline
    ) async throws(SearchError) -> ProviderReply {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let result = await script(number)
        if Task.isCancelled { cancellations.withLock { $0 += 1 } }
        return .answer(try result.get())
    }
}

/// A gate at which calls wait until a test opens it.
actor Door {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private(set) var waiting = 0

    func pass() async {
        guard !isOpen else { return }
        waiting += 1
        await withCheckedContinuation { waiters.append($0) }
    }

    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}

/// Moves the clock whenever a task sleeps, until the work is done.
func driving<Value: Sendable>(
    _ clock: ManualClock, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let done = Atomic<Bool>(false)
    let task = Task {
        defer { done.store(true, ordering: .releasing) }
        return try await work()
    }
    try await eventually("the work ends") {
        if clock.sleeperCount > 0 { clock.advance(by: .milliseconds(50)) }
        return done.load(ordering: .acquiring)
    }
    return try await task.value
}
