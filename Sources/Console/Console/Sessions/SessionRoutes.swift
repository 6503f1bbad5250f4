internal import AsyncAlgorithms
internal import EventContract
internal import HTTPServing
internal import HTTPTypes
internal import HummingbirdCore
internal import JSON
internal import LocationSearch
internal import SessionState

/// Serves the search view: accepts requests of a session, and streams the session's state.
struct SessionRoutes {
    let backend: any ConsoleBackend
    let store: Store
    let pipeline: Pipeline
    let terms: ContentTerms
    /// How long an outcome of a page's request is wanted.
    let expiry: Duration

    /// The prefix of the ids of the console's own requests.
    private static let prefix = "console-"
    /// The contract's limit on the size of a request's value.
    private static let mostBytes = 65_536

    private enum Signal {
        case state(SessionState)
        case pipelineChanged
    }

    /// The newest state and report that a page has received.
    private struct Place {
        /// The revision of the state.
        var revision: Int?
        /// The version of the pipeline's report.
        var report = 0
    }

    func add(to router: Router) {
        router.get("/api/sessions/:session/events") { _, context in
            let session = try Self.session(context)
            let signals = merge(
                store.updates(of: session).map { Signal.state($0) },
                pipeline.changes().map { Signal.pipelineChanged })
            return EventStreaming.response(after: signals, from: Place()) { place, signal in
                switch signal {
                case .pipelineChanged:
                    return [pipeline.event(after: &place.report, withPartitions: false)].compactMap { $0 }
                case .state(let state):
                    guard state.revision != place.revision else { return [] }
                    place.revision = state.revision
                    return [event(of: state, session: session)]
                }
            }
        }

        router.post("/api/sessions/:session/requests") { request, context in
            let session = try Self.session(context)
            let request = try Self.searchRequest(try await request.bytes(upTo: Self.mostBytes), session: session)
            let time = WallTime.now()
            let lifetime = Int64(expiry.milliseconds(roundedUp: true))
            let end = WallTime(milliseconds: time.milliseconds.saturatingAdding(lifetime))

            // Dispatched only after Kafka has taken the request. Its outcome may arrive first, which the store allows.
            try await backend.send(request, at: time, expiry: end)
            store.dispatch(.requested(request, at: time))
            return Self.accepted(request.requestID)
        }
    }

    private func event(of state: SessionState, session: String) -> ServerSentEvent {
        let ages = SessionJSON.Ages(now: .now()) { id in id.hasPrefix(Self.prefix) ? expiry : nil }
        return ServerSentEvent("state", data: SessionJSON.state(state, sessionID: session, ages: ages, terms: terms))
    }

    private static func session(_ context: ClientContext) throws(ConsoleError) -> String {
        guard let text = context.parameter("session", as: String.self), let session = PercentEncoding.decoded(text),
            (1...128).contains(session.unicodeScalars.count)
        else { throw ConsoleError(.invalid, "a session's name has 1 to 128 characters", member: "sessionId") }
        return session
    }

    /// Decodes a request as a worker would, so that a page gets faults immediately.
    private static func searchRequest(_ body: [UInt8], session: String) throws(ConsoleError) -> SearchRequest {
        let nowhere = SourcePosition(topic: "console", partition: 0, offset: 0)
        do throws(RejectedRecord) {
            var request = try RequestDecoder().decode(ConsumerRecord(source: nowhere, value: body)).request
            request.requestID = prefix + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            request.sessionID = session
            return request
        } catch {
            throw ConsoleError(.invalid, error.error.message, member: error.error.member)
        }
    }

    private static func accepted(_ requestID: String) -> Response {
        let json = JSONWriter.object(capacity: 64) { json in json.member("requestId", requestID) }
        return JSONAnswer.response(json, status: .accepted)
    }
}
