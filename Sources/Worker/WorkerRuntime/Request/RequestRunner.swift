internal import EventContract
internal import EventLoop
internal import Kafka
internal import LocationSearch
internal import Logging
internal import ProviderCalls
internal import Resilience

/// Runs the requests of a lane: decodes the record, sets the deadline, starts the search, and encodes its outcome.
///
/// Confined to its lane; not `Sendable`.
final class RequestRunner {
    private let interactor: SearchInteractor
    /// Makes the calls of the searches; `nil` if a test answers in its place.
    let searches: SearchWorker?
    private let decoder: RequestDecoder
    private var encoder: OutcomeEncoder
    private let timeLimits: RequestTimeLimits
    private let topics: WorkerConfiguration.Topics
    private let workerName: String?
    private let loop: EventLoop
    private let meters: WorkerMeters
    private let tracing: RequestTracing?
    private let log: Logger
    private let flowRule: FlowRule
    /// True if requests differ in class or tenant.
    private let ordersRequests: Bool
    /// True once outcomes in the requests topic have been logged.
    private var hasReportedLoopback = false
    /// The topics and classes for which an ignored `priority` has been logged.
    private var reportedClasses: [String: Set<RequestedClass>] = [:]

    /// - Parameter tracing: `nil`: requests are not traced.
    init(
        providers: LaneProviders, configuration: WorkerConfiguration, loop: EventLoop, meters: WorkerMeters,
        tracing: RequestTracing? = nil, log: Logger
    ) {
        interactor = providers.interactor
        searches = providers.searches
        self.loop = loop
        encoder = configuration.topics.outcomeEncoder(seed: loop.randomNumber())
        (self.meters, self.tracing, self.log) = (meters, tracing, log)
        decoder = RequestDecoder(maximumBytes: configuration.maxRequestBytes)
        topics = configuration.topics
        flowRule = FlowRule(configuration)
        ordersRequests = configuration.ordersRequests
        workerName = configuration.name
        timeLimits = configuration.timeLimits
    }

    /// Decodes a record before its request begins, to determine its flow and providers.
    /// - Returns: `nil` for an invalid record, which begins at once.
    func decode(_ record: ConsumerRecord) -> DecodedRequest? {
        try? decoder.decode(record, choosesClass: flowRule.choosesClass(in: record.partition.id.topic))
    }

    /// Returns the class and tenant of a record.
    /// - Parameter decoded: `nil` for a record that was not decoded. It has the standard class of its topic.
    func flow(of record: ConsumerRecord, _ decoded: DecodedRequest?) -> Flow {
        decoded.map { flowRule.flow(of: record, $0) } ?? Flow(flowRule.standardClass(of: record.partition.id.topic))
    }

    /// Decodes a request's record, and begins its trace.
    /// - Returns: `false` for a record that is no request, or is set aside: it has its outcome.
    func read(_ request: RequestInProgress) -> Bool {
        if request.isSetAside {
            setAside(request)
            return false
        }
        #if DEBUG
            TrapHook.check(request.record)
        #endif
        do throws(RejectedRecord) {
            let decoded =
                if let early = request.decoded {
                    early
                } else {
                    try decoder.decode(request.record, choosesClass: choosesClass(request))
                }
            request.keep(decoded)
            if decoded.requestedClass != .none { reportIgnoredClass(of: request.record, decoded) }
            if tracing != nil { beginTrace(of: request, decoded.envelope, requestID: decoded.request.requestID) }
            return true
        } catch {
            if error.outcome != nil { reportLoopback(request) }
            reject(request, because: error)
            return false
        }
    }

    /// Logs, once per lane, topic and class, that a topic ignores the class that its requests ask for.
    private func reportIgnoredClass(of record: ConsumerRecord, _ decoded: DecodedRequest) {
        let topic = record.partition.id.topic
        guard let asked = flowRule.ignoredClass(of: record, decoded),
            reportedClasses[topic, default: []].insert(decoded.requestedClass).inserted
        else { return }
        log.warning(
            "the priority of requests is ignored: their topic has one class; topics.requests may allow both",
            metadata: ["topic": "\(topic)", "priority": "\(asked)"])
    }

    private func choosesClass(_ request: RequestInProgress) -> Bool {
        ordersRequests && flowRule.choosesClass(in: request.record.partition.id.topic)
    }

    private func beginTrace(of request: RequestInProgress, _ envelope: RequestEnvelope, requestID: String) {
        request.trace = tracing?.begin(
            envelope, requestID: requestID, bodySize: request.taken.bodySize, topicWait: request.taken.topicWait)
    }

    /// Logs, once per lane, that the requests topic holds a worker's outcomes.
    private func reportLoopback(_ request: RequestInProgress) {
        guard !hasReportedLoopback else { return }
        hasReportedLoopback = true
        log.error(
            "the requests topic contains a worker's results or errors, which become dead letters: check which program writes them",
            metadata: request.logMetadata)
    }

    private func reject(_ request: RequestInProgress, because rejected: RejectedRecord) {
        meters.requests.countRejected()
        beginTrace(of: request, rejected.envelope, requestID: rejected.requestID)
        request.trace?.fail(with: rejected.error)
        setOutcome(of: request, rejected)
    }

    /// Sets the outcome of a record that is not decoded because it crashes processes.
    private func setAside(_ request: RequestInProgress) {
        meters.requests.countSetAside()
        setOutcome(of: request, RejectedRecord.crashesWorkers(request.record))
    }

    private func setOutcome(of request: RequestInProgress, _ rejected: RejectedRecord) {
        request.outcome.event = errorEvent(for: request, rejected)
        request.outcome.deadLetter = deadLetter(of: request, rejected)
    }

    /// Returns the error event for an invalid record.
    /// - Returns: `nil` if the record must not produce one.
    private func errorEvent(for request: RequestInProgress, _ rejected: RejectedRecord) -> ProducerRecord? {
        guard rejected.deservesEvent else { return nil }

        let now = loop.wallNow
        return encoder.encode(
            rejected, receivedAt: now, completedAt: now, steps: request.steps,
            trace: request.trace?.beginSending(to: topics.errors))
    }

    /// Returns the dead letter of an invalid record.
    /// - Returns: `nil` for a record that is a dead letter already.
    private func deadLetter(of request: RequestInProgress, _ rejected: RejectedRecord) -> ProducerRecord? {
        guard !rejected.isDeadLetter else { return nil }

        let letter = request.deadLetter(for: rejected, worker: workerName, at: loop.wallNow)
        return ProducerRecord(letter, topics: topics)
    }

    /// Starts the search for a request that `read` has decoded.
    /// - Parameter completion: called once on the loop with the search, possibly before this function returns.
    /// - Returns: `false` for a request for which no search starts: it has its outcome, and `completion` is not called.
    func begin(_ request: RequestInProgress, then completion: @escaping (ProviderSearch) -> Void) -> Bool {
        begin(decoded(of: request), of: request, then: completion)
    }

    // With the decoded request as a parameter, the compiler reads its members without copying the whole request.
    private func begin(
        _ decoded: DecodedRequest, of request: RequestInProgress,
        then completion: @escaping (ProviderSearch) -> Void
    ) -> Bool {
        request.search.receivedAt = loop.wallNow
        do throws(SearchError) {
            let deadlines = try prepareSearch(for: decoded, of: request)
            let search = try interactor.search(
                for: decoded.request, at: request.wait.takeCandidates(), before: deadlines, context: request.context,
                then: completion)
            request.search.running = search
            search.begin()
            return true
        } catch {
            leaveSession(decoded.request.sessionID, request)
            write(SearchOutcome(of: decoded.request, failedWith: error), for: decoded, of: request)
            return false
        }
    }

    private func decoded(of request: RequestInProgress) -> DecodedRequest {
        guard let decoded = request.decoded else { preconditionFailure("a search without a decoded request") }
        return decoded
    }

    /// Begins the search's span, and registers the search with its session.
    /// - Returns: the deadlines of the request.
    /// - Throws: the reason why the request is not run.
    private func prepareSearch(
        for decoded: DecodedRequest, of request: RequestInProgress
    ) throws(SearchError) -> RequestDeadlines {
        if let trace = request.trace { trace.beginSearch(for: decoded.request, in: request.context) }
        if request.fate == .superseded { throw .superseded }
        if let refusal = request.wait.refusal { throw refusal }
        let deadlines = try deadlines(of: decoded, at: loop.now, wallTime: request.search.receivedAt)
        joinSession(request, as: decoded.request)
        // A newer search of the session may have begun earlier.
        if request.fate == .superseded { throw .superseded }
        return deadlines
    }

    /// Ends the search's registration with its session, and sets the outcome.
    func end(_ request: RequestInProgress, after search: ProviderSearch) {
        end(decoded(of: request), of: request, after: search)
    }

    private func end(_ decoded: DecodedRequest, of request: RequestInProgress, after search: ProviderSearch) {
        leaveSession(decoded.request.sessionID, request)
        if request.fate == .superseded {
            meters.calls.countWasted(search.cost.attempts - search.cost.givenUp)
            return write(SearchOutcome(of: decoded.request, failedWith: .superseded), for: decoded, of: request)
        }
        let outcome = interactor.outcome(of: search, for: decoded.request)
        write(outcome, for: decoded, of: request, givenUp: search.cost.givenUp)
    }

    private func write(
        _ outcome: SearchOutcome, for decoded: DecodedRequest, of request: RequestInProgress, givenUp: Int = 0
    ) {
        if request.fate != .abandoned { meters.requests.countFinished(outcome, callWait: request.context.wait) }

        if ordersRequests, let wait = request.context.wait {
            meters.requests.countWait((request.taken.topicWait ?? .zero) + wait, of: request.flow.requestClass)
        }
        request.outcome.event = encoder.encode(
            outcome, for: decoded.envelope, receivedAt: request.search.receivedAt, completedAt: loop.wallNow,
            steps: request.steps, trace: request.trace.flatMap { beginSending(outcome, of: $0) })
        if outcome.failure == nil { request.outcome.topic = .results }
        (request.outcome.calls, request.outcome.callsToWaste) = (outcome.attempts, outcome.attempts - givenUp)
    }

    /// Ends the search span of a traced request, and begins the span for sending its outcome.
    @inline(never)
    private func beginSending(_ outcome: SearchOutcome, of trace: RequestTrace) -> TraceContext? {
        trace.endSearch(with: outcome)
        return trace.beginSending(to: outcome.failure == nil ? topics.results : topics.errors)
    }

    /// Ends the older of two searches of one session. The offsets decide which one is older, so that a record that is
    /// read again never ends a newer one.
    /// - Returns: the superseded search, which may be this one; `nil` if there is none.
    @discardableResult
    func joinSession(_ request: RequestInProgress, as search: SearchRequest) -> RequestInProgress? {
        guard !request.search.hasJoinedSession, let session = search.sessionID, search.operation == .search else {
            return nil
        }
        request.search.hasJoinedSession = true
        let superseded = request.partition.sessions.begin(request, session: session)
        superseded?.end(as: .superseded)
        return superseded
    }

    /// Returns the candidate providers of a request, best first; empty if none can serve it.
    func candidates(for decoded: DecodedRequest) -> [any PlaceService] { interactor.candidates(for: decoded.request) }

    var configuredProviders: [ProviderID] { interactor.configuredProviders }

    /// Returns the time for which a request may wait before its call begins, by its expiry and its age; `nil` if it is
    /// unlimited.
    func timeToLastCall(_ decoded: DecodedRequest) -> Duration? {
        let now = loop.now
        guard let deadlines = try? deadlines(of: decoded, at: now, wallTime: loop.wallNow) else { return .zero }
        return deadlines.lastCall.map { now.duration(to: $0) }
    }

    /// Returns the deadlines of a request.
    /// - Parameters:
    ///   - now: the present by the loop's clock.
    ///   - wallTime: the present by the wall clock.
    private func deadlines(
        of decoded: DecodedRequest, at now: Instant, wallTime: WallTime
    ) throws(SearchError) -> RequestDeadlines {
        try timeLimits.deadlines(
            of: decoded.request, age: decoded.envelope.time.map { wallTime.duration(since: $0) },
            timeToExpiry: decoded.envelope.expiry.map { $0.duration(since: wallTime) }, at: now)
    }

    private func leaveSession(_ sessionID: String?, _ request: RequestInProgress) {
        guard let session = sessionID else { return }
        request.partition.sessions.end(request, session: session)
    }
}
