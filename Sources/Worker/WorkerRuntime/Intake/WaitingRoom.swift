internal import Basics
internal import EventContract
internal import EventLoop
internal import LocationSearch
internal import ProviderCalls
internal import Resilience

/// Requests that were read and have not begun, from which the most urgent begin first.
///
/// Requests wait here, and not at their provider, because what has begun holds a place in flight and spends its deadline. A request
/// begins when there is a place for its class and when the line of one of its providers is short: so what waits in those lines is
/// little, and what comes later and is more urgent is soon served. Requests for different providers do not wait for each other.
///
/// Where an order is promised, an outcome waits for those before it, and its request holds its place in flight meanwhile. So requests
/// must begin in the order in which they are to end, whatever their providers: all wait in one line for each flow, those that need no call
/// too. Else a place could be held by a request that waits for one which finds no place.
///
/// With exactly-once an outcome may wait for every earlier request of its partition. So the oldest unfinished request of a partition also
/// begins while outcomes take all their room: see docs/internals/concurrency.md, "Why nothing stands still".
///
/// What waits here has cost nothing. A partition that goes to another member takes its part along, and the next owner reads it again.
///
/// Confined to its lane; not `Sendable`.
final class WaitingRoom {
    /// The requests that would be asked of the same providers.
    fileprivate final class Queue {
        /// Empty for requests that need no call.
        let providers: [ProviderID]
        let requests: CallOrder<RequestInProgress>
        /// True where the queue holds requests for any of the providers.
        let isForAll: Bool

        init(_ providers: [ProviderID], isForAll: Bool, _ terms: FairTerms) {
            self.providers = providers
            self.isForAll = isForAll
            requests = CallOrder(terms)
        }

        func hasShortLine(for requestClass: RequestClass, in calls: any CallQueues) -> Bool {
            func isShort(_ provider: ProviderID) -> Bool { calls.hasShortLine(for: requestClass, at: provider) }
            return isForAll ? providers.allSatisfy(isShort) : providers.isEmpty || providers.contains(where: isShort)
        }
    }

    /// Where a request waits.
    struct Place {
        fileprivate let queue: Queue
        fileprivate let ticket: CallOrder<RequestInProgress>.Ticket
        /// Ends the wait of a request that may not wait for any time.
        fileprivate var timer: TimerID?
    }

    /// The memory that a waiting request takes beside the bytes of its record: the request itself with its entries in the tables and
    /// what was decoded, the timer of one that may not wait for any time, and the line of a tenant of which nothing else waits.
    /// Measured by the experiment `memory-waiting`, which fails where they are too small.
    private static let (bytesOfRequest, bytesOfTimer, bytesOfLine) = (1200, 256, 704)

    /// The requests that are left to other members in one job of the loop: a millisecond's worth.
    private static let mostLeftAtOnce = 256

    private let gate: IntakeGate
    private let partitions: PartitionTable
    private let loop: EventLoop
    private let calls: any CallQueues
    private let terms: FairTerms
    /// The bytes that may wait, of all partitions together.
    private let limit: Int
    /// True where outcomes leave in an order.
    let isOrdered: Bool
    /// True where an outcome may wait for earlier requests of its partition.
    private let outcomesWait: Bool
    /// The providers of all requests where they wait in one line.
    var configuredProviders: [ProviderID] = []
    private var queues: [Queue] = []
    /// Signalled when a request may begin that could not before.
    private var change = Condition()
    private var isChanged = true

    init(
        _ configuration: WorkerConfiguration, gate: IntakeGate, partitions: PartitionTable, calls: any CallQueues,
        loop: EventLoop
    ) {
        self.gate = gate
        self.partitions = partitions
        self.loop = loop
        self.calls = calls
        terms = configuration.fairness
        limit = configuration.lookAheadBytes / max(1, configuration.loops)
        isOrdered = configuration.ordering != .unordered
        outcomesWait = isOrdered || configuration.delivery == .exactlyOnce
    }

    // MARK: - In

    /// Adds a request. `next` returns it when its turn has come.
    /// - Parameters:
    ///   - providers: those that it would be asked of, best first; empty for a request that needs no call.
    ///   - time: how long it may wait; `nil`: for any time.
    func enter(_ request: RequestInProgress, for providers: [ProviderID], atMost time: Duration?) {
        let queue = queue(for: providers)
        let (ticket, isFirstOfFlow) = queue.requests.append(request, in: request.flow)
        let timer = isOrdered ? nil : time.map { watch(request, until: loop.now + $0) }
        request.place = Place(queue: queue, ticket: ticket, timer: timer)
        request.partition.waiting[request.slot] = request

        count(request, isFirstOfLine: isFirstOfFlow, hasTimer: timer != nil)
        noteChange()
    }

    /// Counts the memory of a request that waits.
    private func count(_ request: RequestInProgress, isFirstOfLine: Bool, hasTimer: Bool) {
        // Of a record that was decoded the key and the texts of the value are left.
        var bytes = Self.bytesOfRequest + request.record.size + (request.decoded == nil ? 0 : request.bodySize)
        if hasTimer { bytes += Self.bytesOfTimer }
        if isFirstOfLine { bytes += Self.bytesOfLine }
        request.waitingBytes = bytes
        request.partition.waitingBytes += bytes
    }

    private func watch(_ request: RequestInProgress, until end: Instant) -> TimerID {
        loop.schedule(at: end) { [weak self, weak request] in
            if let self, let request { endWait(of: request) }
        }
    }

    /// Has a request that waits end without a call: its time is over, or a newer search has taken its place.
    func endWait(of request: RequestInProgress) {
        if remove(request) { enter(request, for: [], atMost: nil) }
    }

    private func queue(for providers: [ProviderID]) -> Queue {
        let providers = isOrdered ? configuredProviders : providers
        if let known = queues.first(where: { $0.providers == providers }) { return known }
        let new = Queue(providers, isForAll: isOrdered, terms)
        queues.append(new)
        return new
    }

    /// True for a partition of which no more is to be read for the time being: it has its part of the memory.
    func isFull(of partition: OwnedPartition, among partitions: Int) -> Bool {
        partition.waitingBytes > limit / max(1, partitions)
    }

    /// True for a partition of which reading may go on.
    func hasRoom(for partition: OwnedPartition, among partitions: Int) -> Bool {
        partition.waitingBytes <= limit / max(1, partitions) / 2
    }

    // MARK: - Out

    /// Removes the request that is to begin now; `nil` while none may.
    /// - Parameter others: The requests that were removed before it, and have not begun yet.
    func next(behind others: Int = 0) -> RequestInProgress? {
        for _ in queues.indices {
            let queue = queues.removeFirst()
            queues.append(queue)
            let request = queue.requests.popFirst { requestClass in
                queue.providers.isEmpty
                    ? gate.hasRoomForOutcome(of: requestClass)
                    : gate.hasPlace(for: requestClass, behind: others)
                        && queue.hasShortLine(for: requestClass, in: calls)
            }
            if let request { return left(request) }
        }
        return nextOldest()
    }

    /// Removes the oldest unfinished request of a partition while outcomes take all their room. They may wait for this one, so it begins
    /// without room of its own. While places in flight are all that is lacking, it waits for its turn: no outcome holds one.
    private func nextOldest() -> RequestInProgress? {
        // Where batch requests have room, the others have it too.
        guard outcomesWait, !gate.hasRoomForOutcome(of: .batch), !isPutBack(.reserveMissing) else { return nil }
        let oldest = partitions.oldestWaiting.first { request in
            let requestClass = request.flow.requestClass
            return !gate.hasRoomForOutcome(of: requestClass)
                && request.place?.queue.hasShortLine(for: requestClass, in: calls) ?? false
        }
        guard let oldest, remove(oldest) else { return nil }
        oldest.place?.queue.requests.charge(1, to: oldest.flow)
        return oldest
    }

    /// Removes a request before its turn.
    /// - Returns: false for one that does not wait.
    @discardableResult
    func remove(_ request: RequestInProgress) -> Bool {
        guard let place = request.place, place.queue.requests.remove(place.ticket) != nil else { return false }
        _ = left(request)
        return true
    }

    /// Leaves the waiting requests of some partitions to their next owners, `mostLeftAtOnce` in each job of the loop.
    func leaveToNextOwners(_ leaving: [OwnedPartition]) async {
        var count = 0
        for partition in leaving {
            for request in Array(partition.waiting.values) where remove(request) {
                leaveToNextOwner(request)
                count += 1
                if count.isMultiple(of: Self.mostLeftAtOnce) { await Task.yield() }
            }
        }
    }

    /// Leaves a request that was removed to the next owner of its partition.
    func leaveToNextOwner(_ request: RequestInProgress) {
        // A record that ran alone may wait for the turns of those before it.
        if isOrdered { request.partition.giveUpWhatOvertook(request.slot) }
        request.end(as: .abandoned)
        request.leaveTurn()
    }

    private func left(_ request: RequestInProgress) -> RequestInProgress {
        request.partition.waitingBytes -= request.waitingBytes
        request.waitingBytes = 0
        request.partition.waiting[request.slot] = nil
        if let timer = request.place?.timer { loop.cancel(timer) }
        return request
    }

    /// Charges the tenant of a request that has ended for its calls beyond the first: turns are shared by calls.
    static func charge(_ request: RequestInProgress, for calls: Int) {
        guard let place = request.place else { return }
        request.place = nil
        place.queue.requests.charge(calls - 1, to: request.flow)
    }

    // MARK: - Changes

    /// Has the lane look whether a request may begin. Call it after anything that may have made room.
    func noteChange() {
        isChanged = true
        change.signal()
    }

    /// Waits until something has changed since the last call.
    /// - Parameter isOver: true once nothing may begin any more.
    func waitForChange(unless isOver: () -> Bool) async {
        while !isChanged, !isOver() {
            await suspend(unless: isChanged || isOver()) { change.add($0) }
        }
        isChanged = false
    }

    // MARK: - What waits

    /// How long a request that came now would wait for its turn, as far as a limit tells; `nil` where none does.
    func expectedWait(of flow: Flow, for providers: [ProviderID]) -> Duration? {
        let paces = providers.map { calls.pace(of: $0) }
        guard !paces.contains(nil), let pace = paces.compactMap({ $0 }).max(), pace > 0 else { return nil }
        return .seconds(saturating: queue(for: providers).requests.ahead(of: flow) / pace)
    }

    /// Tells the providers' clients how many requests wait for them, which is part of the loop's demand.
    func publishCounts() {
        var waiting: [ProviderID: WaitingRequests] = [:]
        for queue in queues {
            guard let provider = queue.providers.first, !queue.requests.isEmpty else { continue }
            waiting[provider, default: WaitingRequests()].interactive += queue.requests.count(of: .interactive)
            waiting[provider, default: WaitingRequests()].batch += queue.requests.count(of: .batch)
            waiting[provider, default: WaitingRequests()].tenants += queue.requests.flowCount
        }
        calls.noteWaiting(waiting)
    }

    /// The requests that wait, by flow. A flow of which requests wait for different providers is named for each of these.
    func waiting(at now: Instant) -> [LaneStatus.WaitingFlow] {
        queues.flatMap { queue in
            RequestClass.allCases.flatMap { requestClass in
                queue.requests.tenants(of: requestClass).map { tenant, count, first in
                    LaneStatus.WaitingFlow(
                        flow: Flow(requestClass, tenant: tenant), count: count,
                        longest: first.takenAt.duration(to: now))
                }
            }
        }
    }
}

extension IncomingRecord {
    /// The bytes that the record's parts have.
    fileprivate var size: Int {
        headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
    }
}
