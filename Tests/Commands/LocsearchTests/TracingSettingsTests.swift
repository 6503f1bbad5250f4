import Logging
import Observability
import Testing
import TraceExport

@testable import locsearch

struct TracingSettingsTests {
    private func load(_ environment: [String: String]) throws -> Settings {
        try Settings.load(flags: [:], file: nil, environment: environment)
    }

    @Test func `Shared variables count only if ours are not set`() throws {
        let shared = [
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://shared:4318/", "OTEL_EXPORTER_OTLP_HEADERS": "a=b%20c,d=e",
        ]
        let settings = try load(shared)
        #expect(settings["tracing.endpoint"] == "http://shared:4318")
        #expect(settings.values["tracing.endpoint"]?.origin == .environment("OTEL_EXPORTER_OTLP_ENDPOINT"))
        #expect(Setting.headers(try #require(settings["tracing.headers"])) == ["a": "b c", "d": "e"])
        #expect(try load(shared.merging(["TRACING_ENDPOINT": "off"]) { _, own in own })["tracing.endpoint"] == "off")
    }

    @Test func `An empty shared variable counts as not set`() throws {
        let settings = try load(["OTEL_EXPORTER_OTLP_ENDPOINT": "", "OTEL_SERVICE_NAME": " "])
        #expect(settings["tracing.endpoint"] == nil)
        #expect(settings[Setting.serviceName.name] == nil)
    }

    @Test(arguments: ["a", "=b", "a=b,a=c", "a=%zz", "a b=c", "a=b,", "a=\u{e9}"])
    func `Malformed headers are rejected without showing them`(value: String) {
        let error = #expect(throws: SettingsError.self) { try load(["TRACING_HEADERS": value]) }
        #expect(
            error.map { "\($0)".hasPrefix("tracing.headers is not valid (TRACING_HEADERS): expected name=value") }
                == true)
    }

    @Test(arguments: [
        ([:], false), (["OTEL_TRACES_SAMPLER": "traceidratio"], true), (["OTEL_TRACES_SAMPLER": "Always_Off"], true),
        (["OTEL_TRACES_SAMPLER": "parentbased_traceidratio"], false), (["OTEL_TRACES_SAMPLER": "xray"], false),
        (["OTEL_TRACES_SAMPLER": "always_on", "TRACING_SAMPLE_RATIO": "0.5"], false),
    ])
    func `Only samplers that are not based on the parent ignore it`(
        environment: [String: String], ignoresParent: Bool
    ) throws {
        #expect(try load(environment).ignoresTraceParents == ignoresParent)
    }

    @Test func `The values of headers are secrets`() throws {
        let setting = try #require(Setting.byName["tracing.headers"])
        #expect(setting.shown("authorization=Bearer%20t0ken") == "(hidden)")
        #expect(setting.secrets(in: "authorization=Bearer%20t0ken").contains("Bearer t0ken"))
    }

    /// Otherwise `***` would replace the word in each log line and span.
    @Test func `The name of a tenant or a dataset is no secret`() throws {
        let setting = try #require(Setting.byName["tracing.headers"])
        let value = "X-Scope-OrgID=kafka,x-honeycomb-dataset=locsearch,x-honeycomb-team=abcdef,x-tenant-token=ghijkl"
        #expect(Set(setting.secrets(in: value)) == [value, "abcdef", "ghijkl"])
    }

    @Test(arguments: [
        ([:], false),
        (["TRACING_ENDPOINT": "http://a:1"], true), (["TRACING_ENDPOINT": "off"], false),
        (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1"], true),
        (["OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"], false),
        (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1", "OTEL_TRACES_EXPORTER": "none"], false),
        (["TRACING_ENDPOINT": "http://a:1", "OTEL_SDK_DISABLED": "TRUE"], false),
    ])
    func `Traces are recorded only if they are exported`(environment: [String: String], isTraced: Bool) async throws {
        let traces = try load(environment).traceExport(log: .silent)
        #expect((traces != nil) == isTraced)

        let running = Task { if let traces { await traces.run() } }
        await traces?.stop(running)
    }
}
