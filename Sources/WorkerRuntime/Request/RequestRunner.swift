internal import EventContract
internal import Kafka
internal import LocationSearch
internal import Resilience

/// Runs one request after another of a lane: decodes its record, gives it the time it has, asks the interactor and
/// encodes what came of it.
///
/// Confined to its lane; not `Sendable`.
final class RequestRunner {
    /// What a record turned out to be.
    enum Reading {
        case request(DecodedRequest)
        case rejected(OutgoingOutcome)
    }

    private let interactor: SearchInteractor
    private let decoder: RequestDecoder
    private var encoder = OutcomeEncoder()
    private let presenter = SearchPresenter()
    private let timeLimits: RequestTimeLimits
    private let topics: WorkerConfiguration.Topics
    private let meters: WorkerMeters

    init(interactor: SearchInteractor, configuration: WorkerConfiguration, meters: WorkerMeters) {
        self.interactor = interactor
        self.meters = meters
        decoder = RequestDecoder(maximumBytes: configuration.maxRequestBytes)
        topics = configuration.topics
        timeLimits = RequestTimeLimits(
            standard: configuration.deadline, longest: configuration.maxDeadline, maxAge: configuration.maxAge)
    }

    @inline(__always)
    func read(_ record: IncomingRecord) -> Reading {
        do throws(RejectedRecord) {
            return .request(try decoder.decode(record))
        } catch {
            return .rejected(rejection(of: record, error))
        }
    }

    private func rejection(of record: IncomingRecord, _ rejected: RejectedRecord) -> OutgoingOutcome {
        meters.rejected()
        let now = EventTime.now()
        let encoded = encoder.encode(rejected, receivedAt: now, completedAt: now)
        let letter = DeadLetter(record, error: rejected.error, at: now)

        return OutgoingOutcome(
            event: ProducerRecord(encoded, topics: topics), isResult: false,
            deadLetter: ProducerRecord(letter, topics: topics))
    }

    /// Inlined, as are the other functions of a request's way: see docs/concurrency.md, 2.
    @inline(__always)
    func run(_ decoded: DecodedRequest, of request: RequestInProgress) async -> OutgoingOutcome {
        let receivedAt = EventTime.now()
        let outcome = await search(decoded, of: request, receivedAt: receivedAt)
        if request.fate != .abandoned { meters.finished(outcome, callWait: request.callNote.wait) }

        let encoded = encoder.encode(
            outcome, for: decoded.envelope, receivedAt: receivedAt, completedAt: EventTime.now())
        return OutgoingOutcome(
            event: ProducerRecord(encoded, topics: topics), isResult: encoded.kind == .result, calls: outcome.attempts)
    }

    @inline(__always)
    private func search(
        _ decoded: DecodedRequest, of request: RequestInProgress, receivedAt: EventTime
    ) async -> SearchOutcome {
        let time: Duration
        do throws(SearchError) {
            let envelope = decoded.envelope
            time = try timeLimits.time(
                for: decoded.request, age: envelope.time.map { receivedAt.duration(since: $0) },
                timeToExpiry: envelope.expiry.map { $0.duration(since: receivedAt) })
        } catch {
            return presenter.present(error, for: decoded.request)
        }

        joinSession(request, as: decoded.request)
        let outcome = await interactor.run(
            decoded.request, before: Deadline(.now + time), note: request.callNote)
        leaveSession(request, as: decoded.request)

        guard request.fate == .superseded else { return outcome }
        meters.wasted(outcome.attempts)
        return presenter.present(.superseded, for: decoded.request)
    }

    /// Ends the older of two searches of one session. Offsets decide which that is, so that a record that was handed over
    /// again never ends a newer one.
    private func joinSession(_ request: RequestInProgress, as search: SearchRequest) {
        guard let session = search.sessionID, search.operation == .search else { return }
        let superseded = request.partition.sessions.begin(request, session: session, position: request.offset)
        superseded?.end(as: .superseded)
    }

    private func leaveSession(_ request: RequestInProgress, as search: SearchRequest) {
        guard let session = search.sessionID else { return }
        request.partition.sessions.end(request, session: session)
    }
}
