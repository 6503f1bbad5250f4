import Testing

@testable import TraceExport

/// The rules of OpenTelemetry's exporter specification about endpoints and resources.
struct TraceExportConfigurationTests {
    @Test(arguments: [
        ("http://a:1", false, "http://a:1/v1/traces"), ("http://a:1/v1/traces", false, "http://a:1/v1/traces"),
        ("http://a:1/x", true, "http://a:1/x"), ("http://a:1", true, "http://a:1"),
    ])
    func `Endpoint of traces is taken as it stands`(endpoint: String, isWhole: Bool, url: String) {
        var configuration = TraceExportConfiguration()
        configuration.endpoint = endpoint
        configuration.isTracesURL = isWhole
        #expect(configuration.tracesURL == url)
    }

    @Test func `Spans tell the attributes of their process`() {
        var configuration = TraceExportConfiguration()
        configuration.serviceName = "own"
        configuration.attributes = ["service.name": "other", "host.name": "", "deployment.environment.name": "b c"]
        let resource = configuration.request.resource.map { "\($0.name)=\($0.value)" }
        #expect(
            resource == ["deployment.environment.name=b c", "service.name=own", "telemetry.sdk.language=swift"])
    }
}
