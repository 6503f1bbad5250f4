import Logging
import Observability
import TraceExport

/// Creates the trace export from the settings.
extension Settings {
    /// Returns the trace export; `nil` if nothing is traced, so that tracing costs nothing.
    ///
    /// With `log.level=debug`, the steps of every request are logged, whether it is sampled or not.
    func traceExport(log: Logger) throws -> TraceExport? {
        let isDebugging = log.logLevel <= .debug
        let configuration = traceExportConfiguration
        guard configuration.endpoint != nil || isDebugging else { return nil }

        var random = SystemRandomNumberGenerator()
        return try TraceExport(
            configuration, recordsAll: isDebugging, seed: random.next(),
            spanLog: isDebugging ? SpanLog(log) : nil, log: log)
    }

    private var traceExportConfiguration: TraceExportConfiguration {
        var configuration = TraceExportConfiguration()
        if let endpoint = self["tracing.endpoint"], endpoint != "off" { configuration.endpoint = endpoint }
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
        // If spans are not exported, nothing is sampled.
        let isExported = configuration.endpoint != nil
        configuration.sampleRatio = isExported ? number("tracing.sampleRatio") ?? configuration.sampleRatio : 0
        if let timeout = duration("tracing.timeout") { configuration.timeout = timeout }
        return configuration
    }
}
