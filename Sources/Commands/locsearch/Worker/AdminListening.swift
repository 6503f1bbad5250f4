import HTTPServing
import Logging

extension AdminServer {
    /// Starts the server on the configured address.
    /// - Throws: `Failure` that names `admin.port` if the server cannot listen there.
    static func start(
        for source: WorkerStatus, as settings: Settings, token: BearerToken?, log: Logger
    ) async throws -> HTTPServer {
        let (host, port) = (settings.text("admin.host"), settings.integer("admin.port"))
        if token == nil, !settings.isLocal("admin.host") {
            log.warning(
                "anyone who can reach the admin port can read /metrics and /status: set admin.token or admin.tokenFile",
                metadata: ["host": "\(host)"])
        }

        do {
            return try await AdminServer.start(
                source: source, host: host, port: port, token: token,
                limits: AdminServer.limits.within(descriptors: FileDescriptors.limit), log: log)
        } catch {
            throw Failure(
                "admin.port: \(error); choose another, or 0 for any free one", code: Failure.configuration)
        }
    }
}

extension ConnectionLimits {
    /// Returns limits with which clients cannot use up all file descriptors of this process.
    func within(descriptors: Int) -> ConnectionLimits {
        var limits = self
        limits.maxConnections = max(1, min(maxConnections, descriptors / 4))
        return limits
    }
}

extension Settings {
    /// Returns the URL of a server that listens on the address in a setting.
    func url(_ setting: String, port: Int) -> String {
        let host = text(setting)
        return "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// True if a server that listens on the address in a setting can be reached from this machine only.
    func isLocal(_ setting: String) -> Bool {
        let host = text(setting).lowercased()
        return host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
}
