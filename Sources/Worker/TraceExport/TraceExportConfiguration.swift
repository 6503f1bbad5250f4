/// Which requests are traced and where their spans go: `tracing.*`.
package struct TraceExportConfiguration: Sendable, Hashable {
    /// `tracing.endpoint`: the URL of an OpenTelemetry collector that takes OTLP over HTTP, without `/v1/traces`. `nil`: no
    /// span is exported.
    package var endpoint: String?
    /// Whether `endpoint` is the whole address of spans already, as in OTEL_EXPORTER_OTLP_TRACES_ENDPOINT.
    package var isTracesURL = false
    /// What spans tell of their process beside `serviceName` and `serviceVersion`, among it `tracing.attributes`.
    package var attributes: [String: String] = [:]
    /// `tracing.headers`: sent with each export, by name. The values are secrets.
    package var headers: [String: String] = [:]
    /// `tracing.timeout`: the longest time that one export may take. OpenTelemetry's default.
    package var timeout: Duration = .seconds(10)
    /// `tracing.queueSize`: the most spans that wait to be exported; further ones are dropped. At least `batchSize`.
    package var queueSize = 8192
    /// `tracing.sampleRatio`: the part of the requests that is traced where the record does not say, 0 to 1.
    package var sampleRatio = 1.0
    package var serviceName = "location-search-worker"
    /// The version of the program, as traces show it.
    package var serviceVersion = ""
    /// `tracing.caFile`: a PEM file with the authorities to trust. `nil` means the system's.
    package var caFile: String?
    /// The most spans of one export. OpenTelemetry's default.
    package var batchSize = 512
    /// The longest time that a span waits for its batch to fill. At low load it decides how soon a trace can be seen.
    package var interval: Duration = .seconds(1)

    /// The longest pause after the first export that a collector did not take; it doubles with each further one.
    package var firstPause: Duration = .seconds(1)

    package init() {}

    /// The address that spans are posted to. An endpoint that names it already is taken as it is.
    var tracesURL: String? {
        endpoint.map { isTracesURL || $0.hasSuffix("/v1/traces") ? $0 : $0 + "/v1/traces" }
    }

    /// An export without spans.
    var request: OTLPRequest {
        let own = ["service.name": serviceName, "service.version": serviceVersion, "telemetry.sdk.language": "swift"]
        let all = attributes.merging(own) { _, own in own }.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        return OTLPRequest(
            resource: all.map { (name: $0.key, value: $0.value) },
            scope: (name: "location-search-worker", version: serviceVersion))
    }
}
