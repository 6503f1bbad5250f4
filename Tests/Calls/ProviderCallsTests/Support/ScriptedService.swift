import Basics
import Synchronization
import TestSupport

@testable import LocationSearch
@testable import ProviderCalls

/// A provider with scripted answers, which records its calls.
final class ScriptedService: PlaceService {
    let id: ProviderID
    private let script: @Sendable (Int, Deadline) async -> Result<ProviderAnswer, SearchError>
    private let priced: @Sendable (SearchRequest) -> PriceClass
    private let begun = Mutex<[Deadline]>([])
    private let cancellations = Mutex(0)

    /// - Parameter script: makes the answer of each call; the first call has number 1.
    init(
        _ id: ProviderID = .hotpepper,
        priceClass: @escaping @Sendable (SearchRequest) -> PriceClass = { _ in .hotpepper },
        _ script: @escaping @Sendable (Int) async -> Result<ProviderAnswer, SearchError>
    ) {
        self.id = id
        priced = priceClass
        self.script = { number, _ in await script(number) }
    }

    /// Calls that take some time, and fail if their deadline comes first.
    /// - Parameter latency: the latency of each call; the first call has number 1.
    init(_ id: ProviderID, time: VirtualTime, latency: @escaping @Sendable (Int) -> Duration) {
        self.id = id
        priced = { _ in .hotpepper }
        script = { number, deadline in
            let end = time.now + latency(number)
            try? await time.sleep(until: min(end, deadline.instant), tolerance: nil)
            if end > deadline.instant { return .failure(.timedOut) }
            return .success(ProviderAnswer(places: [Place(id: "\(number)", provider: id, name: "A")]))
        }
    }

    var deadlines: [Deadline] { begun.withLock { $0 } }
    var calls: Int { deadlines.count }
    var cancelled: Int { cancellations.withLock { $0 } }

    func refusal(of request: SearchRequest) -> SearchError? { nil }

    func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass { priced(request) }

    func begin(
        _ request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline,
        then end: @escaping ProviderCompletion
    ) -> (any Cancellable)? {
        let number = begun.withLock { begun in
            begun.append(deadline)
            return begun.count
        }
        guard let time = VirtualTime.current else { preconditionFailure("a call outside virtual time") }
        return CallInTask.begin(on: time) { [self] in
            let result = await script(number, deadline)
            if Task.isCancelled { cancellations.withLock { $0 += 1 } }
            end(result.map { .answer($0) })
        }
    }
}
