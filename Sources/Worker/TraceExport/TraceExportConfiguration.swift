/// The settings for tracing: which requests are traced, and where their spans are sent: `tracing.*`.
package struct TraceExportConfiguration: Sendable, Hashable {
    /// `tracing.endpoint`: the URL of an OpenTelemetry collector for OTLP over HTTP, without `/v1/traces`.
    package let endpoint: String
    /// Whether `endpoint` is the complete URL for traces, as in OTEL_EXPORTER_OTLP_TRACES_ENDPOINT.
    package var isTracesURL = false
    /// The resource attributes besides `serviceName` and `serviceVersion`, including those of OTEL_RESOURCE_ATTRIBUTES.
    package var attributes: [String: String] = [:]
    /// `tracing.headers`: the headers of each export, by name. The values are secrets.
    package var headers: [String: String] = [:]
    /// `OTEL_EXPORTER_OTLP_TIMEOUT`: the timeout of one export. OpenTelemetry's default.
    package var timeout: Duration = .seconds(10)
    /// The most spans that wait to be exported; further ones are dropped. At least `batchSize`.
    package var queueSize = 8192
    /// `tracing.sampleRatio`: the fraction of requests that is traced if their records do not decide it, 0 to 1.
    package var sampleRatio = 1.0
    /// Whether that fraction also applies to requests whose records name a trace, as OpenTelemetry's samplers without
    /// `parentbased_` demand.
    package var ignoresParent = false
    package var serviceName = "location-search-worker"
    package var serviceVersion = ""
    /// `http.caFile`: a PEM file with trusted certificate authorities. `nil`: those of the system.
    package var caFile: String?
    /// The most spans of one export. OpenTelemetry's default.
    package var batchSize = 512
    /// The longest time for which a span waits for its batch to fill. At low load, it determines how soon a trace is
    /// visible.
    package var interval: Duration = .seconds(1)

    /// The longest pause after the first failed export; each further failure doubles it.
    package var firstPause: Duration = .seconds(1)

    package init(endpoint: String) { self.endpoint = endpoint }

    /// The URL to which spans are posted. An endpoint that ends with `/v1/traces` is used unchanged.
    var tracesURL: String { isTracesURL || endpoint.hasSuffix("/v1/traces") ? endpoint : endpoint + "/v1/traces" }

    /// The request encoder with the resource attributes and the scope.
    var request: OTLPRequest {
        let own = ["service.name": serviceName, "service.version": serviceVersion, "telemetry.sdk.language": "swift"]
        let all = attributes.merging(own) { _, own in own }.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        return OTLPRequest(
            resource: all.map { (name: $0.key, value: $0.value) },
            scope: (name: "location-search-worker", version: serviceVersion))
    }
}
