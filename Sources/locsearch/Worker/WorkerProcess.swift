import AdminServer
import EventLoop
import HTTPTransport
import Kafka
import LocationSearch
import Logging
import PlaceProviders
import WorkerRuntime

/// A worker put together from settings: lanes, each with its own loop, consumer, producer and connections.
struct WorkerProcess: Sendable {
    private struct Part: Sendable {
        let loop: EventLoop
        let lane: WorkerLane
        let http: HTTPTransport
    }
    private let parts: [Part]
    let providers: [ProviderID]

    init(_ settings: Settings, log: Logger) async throws {
        try settings.validate()
        let configuration = settings.worker()
        let (consumer, producer) = (try settings.consumer(), try settings.producer())
        let keys = (google: try settings.googleKey(), hotpepper: try settings.hotpepperKey())
        let order = settings.providerOrder()
        let meters = WorkerMeters()
        var parts: [Part] = []
        var configured: [ProviderID] = []
        for number in 0..<configuration.loops {
            let loop = try EventLoop()
            let http = HTTPTransport(loop: loop, configuration: settings.http)
            let services = Self.services(settings, http, google: keys.google, hotpepper: keys.hotpepper)
            configured = services.map(\.id)
            let interactor = SearchInteractor(
                selection: ProviderSelection(services: services, order: order),
                worker: SearchWorker(executor: loop, policies: settings.retryPolicies))
            var own = consumer
            // Static members need a name each.
            if configuration.loops > 1 { own.groupInstanceID = consumer.groupInstanceID.map { "\($0)-\(number)" } }
            let lane = WorkerLane(
                loop: loop, configuration: configuration,
                consumer: try KafkaConsumer(loop: loop, configuration: own, log: log),
                producer: try KafkaProducer(loop: loop, configuration: producer, log: log), interactor: interactor,
                meters: meters, log: log)
            parts.append(Part(loop: loop, lane: lane, http: http))
        }
        self.parts = parts
        providers = configured
    }

    private static func services(
        _ settings: Settings, _ http: HTTPTransport, google: String?, hotpepper: String?
    ) -> [any PlaceService] {
        var services: [any PlaceService] = []
        func configuration(_ baseURL: String, _ key: String) -> ProviderConfiguration {
            ProviderConfiguration(baseURL: settings.text(baseURL), apiKey: key)
        }
        if let hotpepper {
            services.append(HotpepperService(http: http, configuration: configuration("hotpepper.baseURL", hotpepper)))
        }
        if let google {
            services.append(
                GooglePlacesService(http: http, configuration: configuration("googlePlaces.baseURL", google)))
            services.append(
                GooglePlacesLegacyService(
                    http: http, configuration: configuration("googlePlacesLegacy.baseURL", google)))
        }
        return services
    }

    /// Works until `drain` or a fatal failure of any lane, which ends them all.
    func run() async throws {
        defer { for part in parts { part.loop.stop() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in parts {
                group.addTask {
                    do {
                        try await part.lane.run()
                    } catch {
                        await drain()
                        throw error
                    }
                    await part.http.shutdown()
                }
            }
            try await group.waitForAll()
        }
    }

    /// Begins the end: nothing more is taken, what is in flight finishes.
    func drain() async {
        for part in parts { await part.lane.drain() }
    }

    func statuses() async -> [LaneStatus] {
        var statuses: [LaneStatus] = []
        for part in parts { statuses.append(await part.lane.status) }
        return statuses
    }
}
