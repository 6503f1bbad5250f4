import AdminServer
import Logging

extension AdminServer {
    /// Listens where the settings say.
    /// - Throws: `Failure` that names `admin.port` when that is not possible.
    static func start(
        for source: WorkerStatus, as settings: Settings, log: Logger
    ) async throws -> AdminServer {
        let (host, port) = (settings.text("admin.host"), settings.integer("admin.port"))
        do {
            return try await AdminServer.start(source: source, host: host, port: port, log: log)
        } catch {
            throw Failure(
                code: Failure.configuration,
                description: "admin.port: \(error); choose another, or 0 for any free one")
        }
    }
}
