internal import EventContract
internal import EventLoop
internal import LocationSearch
internal import ProviderCalls
internal import Resilience

/// Requests that were read and have not begun. The most urgent begin first.
///
/// Requests wait here and not at their provider, because a request that has begun holds an in-flight permit and its
/// deadline is running. A request begins when there is a permit for its class and the queue of one of its providers is
/// short. Few requests then wait in those queues, and a more urgent request that arrives later is soon served. Requests
/// for different providers do not block each other.
///
/// If an order is promised, an outcome waits for earlier outcomes, and its request holds its permit meanwhile. All
/// requests of a flow then wait in one queue for all providers, including those that need no call. They begin in the
/// order in which they must end. Otherwise two requests could deadlock over the last permit.
///
/// With exactly-once, an outcome may wait for every earlier request of its partition. The oldest unfinished request of
/// a partition therefore begins even if outcomes occupy all their room: see docs/internals/concurrency.md, 9.
///
/// No calls have been made for a waiting request. When its partition is revoked, the next owner reads it again.
///
/// Confined to its lane; not `Sendable`.
final class WaitingRoom {
    typealias Queue = WaitingQueue<RequestInProgress>

    private struct OfPartition {
        var requests: [OffsetTracker.Slot: RequestInProgress] = [:]
        /// The requests that are held back: see `OwnedPartition.holdsBack`. `nil` before the first.
        var heldBack: Queue?
        /// The bytes of memory of these requests.
        var bytes = 0
    }

    /// The memory in bytes of a waiting request, in addition to its record. `bytesOfRequest`: the request, its table
    /// entries and its decoded form. `bytesOfTimer`: the timer of a request with a time limit. `bytesOfLine`: the queue
    /// of a tenant without other requests. The experiment `memory-waiting` measures them, and fails if they are too
    /// small.
    private static let (bytesOfRequest, bytesOfTimer, bytesOfLine) = (1200, 256, 704)

    /// The most requests that are returned to other members in one job of the loop, which takes about a millisecond.
    private static let mostLeftAtOnce = 256

    private let gate: IntakeGate
    private let partitions: PartitionTable
    private let loop: EventLoop
    let calls: any CallQueues
    private let terms: FairTerms
    /// The most bytes of waiting requests, for all partitions together.
    private let limit: Int
    /// True if outcomes are published in an order.
    let isOrdered: Bool
    /// True if an outcome may wait for earlier requests of its partition.
    private let outcomesWait: Bool
    /// The providers of all requests if they wait in one queue.
    var configuredProviders: [ProviderID] = []
    private var queues: [Queue] = []
    /// The waiting requests of each `OwnedPartition`.
    private var ofPartition: [ObjectIdentifier: OfPartition] = [:]
    /// Signalled when a waiting request may have become able to begin.
    private var change = Condition()
    private var isChanged = true

    init(
        _ configuration: WorkerConfiguration, gate: IntakeGate, partitions: PartitionTable, calls: any CallQueues,
        loop: EventLoop
    ) {
        (self.gate, self.partitions, self.loop, self.calls) = (gate, partitions, loop, calls)
        terms = configuration.flows.fairness
        limit = configuration.flows.lookAheadBytes / max(1, configuration.loops)
        isOrdered = configuration.ordering != .unordered
        outcomesWait = isOrdered || configuration.delivery == .exactlyOnce
    }

    // MARK: - Adding

    /// Adds a request. `next` returns it when it may begin.
    /// - Parameter lines: the lines of its providers, preferred first; empty for a request that needs no call.
    /// - Parameter time: the longest wait; `nil`: unlimited.
    func enter(_ request: RequestInProgress, for lines: [CallLine], atMost time: Duration?) {
        enter(request, in: queue(for: lines), until: isOrdered ? nil : time.map { loop.now + $0 })
    }

    private func enter(
        _ request: RequestInProgress, in queue: Queue, at ticket: Queue.Ticket? = nil, until end: Instant?,
        former: (Queue, Queue.Ticket)? = nil
    ) {
        let (ticket, isOnlyOfFlow) = queue.requests.append(request, in: request.flow, former: ticket)
        let timer = end.map {
            loop.schedule(at: $0) { [weak self, weak request] in
                if let self, let request { endWait(of: request) }
            }
        }
        // A decoded request keeps the key and the texts of its value.
        let bytes =
            Self.bytesOfRequest + request.record.size + (request.decoded == nil ? 0 : request.taken.bodySize)
            + (timer == nil ? 0 : Self.bytesOfTimer) + (isOnlyOfFlow ? Self.bytesOfLine : 0)

        request.wait.place = WaitingPlace(
            queue: queue, ticket: ticket, end: end, timer: timer, bytes: bytes, former: former)
        ofPartition[ObjectIdentifier(request.partition), default: OfPartition()].requests[request.slot] = request
        ofPartition[ObjectIdentifier(request.partition)]?.bytes += bytes
        noteChange()
    }

    /// Ends the wait of a request without a call: its time limit has passed, or a newer search has replaced it.
    func endWait(of request: RequestInProgress) {
        if remove(request) { enter(request, for: [], atMost: nil) }
    }

    /// Makes a request that `next` has returned wait while its partition holds it back. If it began and waited for a dead
    /// letter, it would count among the open requests meanwhile, and leave other partitions no room.
    func holdBack(_ request: RequestInProgress) {
        guard let place = request.wait.place else { return }
        let id = ObjectIdentifier(request.partition)
        let queue = ofPartition[id]?.heldBack ?? Queue([], isForAll: false, terms)
        enter(request, in: queue, until: place.end, former: (place.queue, place.ticket))
        ofPartition[id]?.heldBack = queue
    }

    /// Returns requests that are not held back any more to their places in their former queues.
    func release(of partition: OwnedPartition) {
        guard let queue = ofPartition[ObjectIdentifier(partition)]?.heldBack else { return }
        var free: [RequestInProgress] = []
        queue.requests.forEach { if !partition.holdsBack($0.slot) { free.append($0) } }
        for request in free.reversed() {
            guard let place = request.wait.place, let former = place.former, remove(request) else { continue }
            enter(request, in: former.queue, at: former.ticket, until: place.end)
        }
    }

    private func queue(for lines: [CallLine]) -> Queue {
        let lines = isOrdered ? configuredProviders.map { CallLine($0) } : lines
        if let known = queues.first(where: { $0.lines == lines }) { return known }
        let new = Queue(lines, isForAll: isOrdered, terms)
        queues.append(new)
        return new
    }

    /// Pauses reading of a partition whose waiting requests use their share of the memory. Resumes it once they use
    /// half of that.
    func adaptReading(of partition: OwnedPartition) {
        let bytes = ofPartition[ObjectIdentifier(partition)]?.bytes ?? 0
        let share = limit / max(1, partitions.count)
        if bytes > share { partitions.pauses.pause(partition, because: .memory) }
        if bytes <= share / 2 { partitions.pauses.resume(partition, from: .memory) }
    }

    // MARK: - Removing

    /// Removes the request that is to begin now; `nil` if none may.
    /// - Parameter others: the number of requests that were removed before it and have not begun yet.
    func next(behind others: Int = 0) -> RequestInProgress? {
        for _ in queues.indices {
            let queue = queues.removeFirst()
            queues.append(queue)
            let request = queue.requests.popFirst { requestClass, _ in
                queue.lines.isEmpty
                    ? gate.hasRoomForOutcome(of: requestClass)
                    : gate.hasPlace(for: requestClass, behind: others)
                        && queue.hasShortLine(for: requestClass, in: calls)
            }
            if let request { return left(request) }
        }
        return nextOldest()
    }

    /// Removes the oldest unfinished request of a partition if unconfirmed outcomes fill their limit. They may wait for this
    /// request, so it begins without room for its outcome, and beyond the limit of requests in flight: at most one request of
    /// each partition.
    private func nextOldest() -> RequestInProgress? {
        // If batch requests have room, so do the others.
        guard outcomesWait, !gate.hasRoomForOutcome(of: .batch) else { return nil }
        let waiting = partitions.all.lazy.compactMap(self.oldestIfWaiting)
        let oldest = waiting.first { [self] request in
            let requestClass = request.flow.requestClass
            return !gate.hasRoomForOutcome(of: requestClass)
                && request.wait.place?.queue.hasShortLine(for: requestClass, in: calls) ?? false
        }
        guard let oldest, remove(oldest) else { return nil }
        oldest.wait.place?.queue.requests.charge(1, to: oldest.flow)
        return oldest
    }

    /// Returns the oldest unfinished request of a partition, if it waits here.
    private func oldestIfWaiting(of partition: OwnedPartition) -> RequestInProgress? {
        guard let oldest = partition.commits.tracker.oldestSlot, !partition.holdsBack(oldest) else { return nil }
        return ofPartition[ObjectIdentifier(partition)]?.requests[oldest]
    }

    /// Removes a request before it may begin. Returns false if the request does not wait.
    @discardableResult
    func remove(_ request: RequestInProgress) -> Bool {
        guard let place = request.wait.place, place.queue.requests.remove(place.ticket) != nil else { return false }
        _ = left(request)
        return true
    }

    /// Abandons the waiting requests of some partitions, at most `mostLeftAtOnce` in each job of the loop. The
    /// partitions' next owners read them again.
    func leaveToNextOwners(_ leaving: [OwnedPartition]) async {
        var count = 0
        for partition in leaving {
            for request in ofPartition[ObjectIdentifier(partition)]?.requests.values.map({ $0 }) ?? []
            where remove(request) {
                leaveToNextOwner(request)
                count += 1
                if count.isMultiple(of: Self.mostLeftAtOnce) { await Task.yield() }
            }
        }
    }

    /// Abandons a removed request. The next owner of its partition reads it again.
    func leaveToNextOwner(_ request: RequestInProgress) {
        // A record that ran in isolation may wait for its predecessors' outcomes.
        if isOrdered { request.partition.abandonOvertaking(request.slot) }
        request.end(as: .abandoned)
        request.leaveOrder()
    }

    private func left(_ request: RequestInProgress) -> RequestInProgress {
        let id = ObjectIdentifier(request.partition)
        ofPartition[id]?.requests[request.slot] = nil
        if let place = request.wait.place {
            ofPartition[id]?.bytes -= place.bytes
            if let timer = place.timer { loop.cancel(timer) }
        }
        if ofPartition[id]?.requests.isEmpty == true { ofPartition[id] = nil }
        return request
    }

    /// Charges a finished request's calls beyond the first to its tenant: fairness counts calls.
    static func charge(_ request: RequestInProgress, for calls: Int) {
        guard let place = request.wait.place else { return }
        request.wait.place = nil
        place.queue.requests.charge(calls - 1, to: request.flow)
    }

    // MARK: - Changes

    /// Wakes the lane to check whether a request may begin. Call it after anything that may have made room.
    func noteChange() {
        isChanged = true
        change.signal()
    }

    /// Waits until something has changed since the last call, or no request may begin any more.
    func waitForChange(unless isOver: () -> Bool) async {
        while !isChanged, !isOver() {
            await suspend(unless: isChanged || isOver()) { change.add($0) }
        }
        isChanged = false
    }

    // MARK: - Status

    /// The queues of requests that their partitions hold back.
    var heldBack: [Queue] { ofPartition.values.compactMap(\.heldBack) }

    /// Estimates the wait of a new request from the providers' rate limits; `nil` if a provider has none.
    func expectedWait(of flow: Flow, for lines: [CallLine]) -> Duration? {
        let paces = lines.map { calls.pace(of: $0) }
        guard !paces.contains(nil), let pace = paces.compactMap({ $0 }).max(), pace > 0 else { return nil }
        return .seconds(saturating: queue(for: lines).requests.ahead(of: flow) / pace)
    }

    /// Reports the number of waiting requests to the providers' clients, as part of the loop's demand.
    func publishCounts() {
        var waiting: [CallLine: WaitingRequests] = [:]
        for queue in queues {
            guard let line = queue.lines.first, !queue.requests.isEmpty else { continue }
            waiting[line, default: WaitingRequests()] += WaitingRequests(
                interactive: queue.requests.count(of: .interactive), batch: queue.requests.count(of: .batch),
                tenants: queue.requests.flowCount)
        }
        calls.noteWaiting(waiting)
    }

    /// The waiting requests by flow. A flow has an entry for each list of providers, and for each queue of `heldBack`.
    func waiting(at now: Instant) -> [LaneStatus.WaitingFlow] {
        (queues + heldBack).flatMap { queue in
            RequestClass.allCases.flatMap { requestClass in
                queue.requests.tenants(of: requestClass).map { tenant, count, first in
                    LaneStatus.WaitingFlow(
                        flow: Flow(requestClass, tenant: tenant), count: count,
                        longest: first.taken.at.duration(to: now))
                }
            }
        }
    }
}

extension ConsumerRecord {
    /// The size of the record's parts in bytes.
    fileprivate var size: Int {
        headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
    }
}
