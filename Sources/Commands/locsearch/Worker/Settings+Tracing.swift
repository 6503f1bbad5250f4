import Logging
import Observability
import TraceExport

/// Creates the trace export from the settings.
extension Settings {
    /// Returns the trace export; `nil` without `tracing.endpoint`, so that tracing costs nothing.
    func traceExport(log: Logger) throws -> TraceExport? {
        guard let endpoint = self["tracing.endpoint"], endpoint != "off" else { return nil }
        var random = SystemRandomNumberGenerator()
        return try TraceExport(traceExportConfiguration(endpoint), seed: random.next(), log: log)
    }

    private func traceExportConfiguration(_ endpoint: String) -> TraceExportConfiguration {
        var configuration = TraceExportConfiguration(endpoint: endpoint)
        configuration.serviceName = text("tracing.serviceName")
        configuration.isTracesURL =
            values["tracing.endpoint"]?.origin == .environment("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
        let (host, pid) = (HostName.own ?? "", "\(ownProcessID)")
        configuration.attributes = ["host.name": host, "process.pid": pid, "service.instance.id": "\(host)-\(pid)"]
            .merging(self["tracing.attributes"].flatMap(Setting.headers) ?? [:]) { _, given in given }
        if isDefault("tracing.serviceName"), let name = configuration.attributes["service.name"] {
            configuration.serviceName = name
        }
        configuration.headers = self["tracing.headers"].flatMap(Setting.headers) ?? [:]
        configuration.caFile = self["http.caFile"]
        configuration.serviceVersion = Version.current
        if let ratio = number("tracing.sampleRatio") { configuration.sampleRatio = ratio }
        if let timeout = duration(Setting.traceTimeout.name) { configuration.timeout = timeout }
        return configuration
    }
}
