package import HTTPServing
internal import HummingbirdCore
package import Logging
package import SessionState

/// The console: a web page that searches, shows the traffic, and sends dead letters back.
///
/// It has no state. It shows the store of sessions and the traffic, which the reader of the topics fills, and the
/// pipeline's report. Its actions are the backend's.
package enum ConsoleServer {
    /// Returns once the server listens.
    /// - Parameter demo: the controls for visitors; `nil` for a console outside a demo.
    /// - Throws: `HTTPServerError` if the port cannot be opened.
    package static func start(
        _ configuration: ConsoleConfiguration, store: Store, traffic: Traffic, pipeline: Pipeline,
        backend: any ConsoleBackend, demo: (any DemoPanel)? = nil, log: Logger
    ) async throws(HTTPServerError) -> HTTPServer {
        let access = ConsoleAccess(
            token: configuration.token, hosts: [configuration.host] + configuration.allowedHosts)
        let kafka = KafkaGate()
        let page = PageRoutes(file: PageFiles.content)

        let router = Router()
        page.add(to: router)
        LoginRoutes(access: access).add(to: router)
        ConfigRoutes(configuration: configuration, backend: backend, isDemo: demo != nil).add(to: router)
        StreetRoutes(streets: configuration.streets).add(to: router)
        SessionRoutes(
            backend: backend, store: store, pipeline: pipeline, terms: configuration.terms,
            expiry: configuration.requestExpiry
        ).add(to: router)
        TrafficRoutes(traffic: traffic, pipeline: pipeline, terms: configuration.terms).add(to: router)
        DeadLetterRoutes(backend: backend, kafka: kafka).add(to: router)
        RequestRoutes(backend: backend, kafka: kafka, link: configuration.traceLink).add(to: router)
        ControlRoutes(backend: backend, kafka: kafka).add(to: router)
        PictureRoutes(backend: backend, hosts: configuration.pictureHosts).add(to: router)
        if let demo { DemoRoutes(panel: demo).add(to: router) }

        let check = AccessCheck(
            access: access, securityPolicy: ContentSecurityPolicy.text(for: configuration), page: page,
            routes: router.responder)
        return try await HTTPServer.start(
            check.respond(to:in:), host: configuration.host, port: configuration.port, limits: configuration.limits,
            log: log)
    }
}
