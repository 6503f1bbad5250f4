import Basics
import EventLoop
import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import locsearch

/// Conventions of the environments in which programs run: each row states one, and how we follow it.
///
/// docs/operations.md has the same table for users. `ServerConventionsTests` has the rows about long-running programs.
struct ConventionsTests {
    // MARK: - Environment variables

    struct Variables: Sendable, CustomTestStringConvertible {
        let convention: String
        let environment: [String: String]
        /// The resulting settings; `nil` for one that is not set.
        let settings: [String: String?]
        /// A part of each warning, in order.
        var warnings: [String] = []
        var testDescription: String { convention }
    }

    static let otlp = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"]

    static let variables: [Variables] = [
        Variables(
            convention: "a variable that the program does not know is nobody's mistake",
            environment: [
                "FOO": "x", "KAFKA_OPTS": "x", "LOG_DIR": "/x", "HTTP_PORT": "1", "WORKER_ID": "x", "KAFKA_HOME": "x",
                "LOGNAME": "x", "PATH": "x", "LOCSEARCH_CONFIG_DIR": "x",
            ], settings: ["log.level": "info", "kafka.groupId": "location-search-worker"]),
        Variables(
            convention: "Kubernetes sets variables for services named kafka, worker, log and hotpepper",
            environment: [
                "KAFKA_PORT": "tcp://10.0.0.1:9092", "KAFKA_SERVICE_HOST": "10.0.0.1", "KAFKA_SERVICE_PORT": "9092",
                "KAFKA_PORT_9092_TCP_ADDR": "10.0.0.1", "WORKER_PORT": "tcp://10.0.0.2:1",
                "LOG_PORT": "udp://10.0.0.3:1",
                "ADMIN_SERVICE_PORT": "1", "HOTPEPPER_SERVICE_HOST": "10.0.0.4", "HOTPEPPER_PORT_80_TCP_PROTO": "tcp",
            ], settings: ["kafka.bootstrapServers": "localhost:9092"]),
        Variables(
            convention: "services named console and admin give variables that are called like settings",
            environment: ["CONSOLE_PORT": "tcp://10.0.0.1:8081", "ADMIN_PORT": "udp://[fd00::1]:80"],
            settings: ["console.port": "8081", "admin.port": "8080"],
            warnings: ["ADMIN_PORT=udp://[fd00::1]:80 was set by Kubernetes", "CONSOLE_PORT is ignored"]),
        Variables(
            convention: "programs that share a LOG_LEVEL write it in upper case", environment: ["LOG_LEVEL": "INFO"],
            settings: ["log.level": "info"]),
        Variables(
            convention: "and some say warn", environment: ["LOG_LEVEL": "WARN"], settings: ["log.level": "warning"]),
        Variables(
            convention: "a proxy's variable stands for one scheme, and the lower case comes first, as in curl",
            environment: ["HTTP_PROXY": "http://a:1", "http_proxy": "http://b:1", "HTTPS_PROXY": "http://c:1"],
            settings: ["http.proxy": "http://b:1", "HTTPS_PROXY": "http://c:1"]),
        Variables(
            convention: "ALL_PROXY is for schemes without a variable of their own",
            environment: [
                "ALL_PROXY": "socks5://a:1", "https_proxy": "http://b:1", "no_proxy": ".svc", "NO_PROXY": "x",
            ],
            settings: ["http.proxy": "socks5://a:1", "HTTPS_PROXY": "http://b:1", "http.noProxy": ".svc"]),
        Variables(
            convention: "an empty proxy variable is not set, and one that is no URL does not stop a command",
            environment: ["HTTP_PROXY": "", "HTTPS_PROXY": "http://user:geheim@a b", "NO_PROXY": ""],
            settings: ["http.proxy": nil, "HTTPS_PROXY": nil, "http.noProxy": nil],
            warnings: ["HTTPS_PROXY is not valid (HTTPS_PROXY): expected an http, https or socks5 URL"]),
        Variables(
            convention: "OTEL_SDK_DISABLED ends all export",
            environment: ["OTEL_SDK_DISABLED": "true", "TRACING_ENDPOINT": "http://own:4318"],
            settings: ["tracing.endpoint": "off"]),
        Variables(
            convention: "OTEL_SDK_DISABLED is false for any other value",
            environment: otlp.merging(["OTEL_SDK_DISABLED": "1"]) { $1 },
            settings: ["tracing.endpoint": "http://collector:4318"]),
        Variables(
            convention: "OTEL_TRACES_EXPORTER=none exports no traces",
            environment: otlp.merging(["OTEL_TRACES_EXPORTER": "none"]) { $1 }, settings: ["tracing.endpoint": "off"]),
        Variables(
            convention: "an exporter that is not known is warned about and ignored",
            environment: otlp.merging(["OTEL_TRACES_EXPORTER": "zipkin"]) { $1 },
            settings: ["tracing.endpoint": "http://collector:4318"], warnings: ["OTEL_TRACES_EXPORTER is ignored"]),
        Variables(
            convention: "an endpoint without a scheme is warned about and ignored",
            environment: ["OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"], settings: ["tracing.endpoint": nil],
            warnings: ["expected an http or https URL"]),
        Variables(
            convention: "what is said of traces goes before what is said of all signals",
            environment: otlp.merging([
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t:1/x", "OTEL_EXPORTER_OTLP_TIMEOUT": "2000",
                "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "1500", "OTEL_EXPORTER_OTLP_HEADERS": "a=b",
                "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "c=d", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
                "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
            ]) { $1 },
            settings: [
                "tracing.endpoint": "http://t:1/x", "OTEL_EXPORTER_OTLP_TIMEOUT": "1500ms", "tracing.headers": "c=d",
            ]),
        Variables(
            convention: "a protocol that the program lacks is warned about and ignored",
            environment: otlp.merging([
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "",
            ]) { $1 },
            settings: ["tracing.endpoint": "http://collector:4318"],
            warnings: ["OTEL_EXPORTER_OTLP_PROTOCOL is ignored"]),
        Variables(
            convention: "a sampler has its ratio in a variable of its own",
            environment: ["OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.25"],
            settings: ["tracing.sampleRatio": "0.25"]),
        Variables(
            convention: "a sampler may be off", environment: ["OTEL_TRACES_SAMPLER": "always_off"],
            settings: ["tracing.sampleRatio": "0"]),
        Variables(
            convention: "a sampler that is not known is warned about and ignored",
            environment: ["OTEL_TRACES_SAMPLER": "jaeger_remote", "OTEL_EXPORTER_OTLP_TIMEOUT": "soon"],
            settings: ["tracing.sampleRatio": "1", "OTEL_EXPORTER_OTLP_TIMEOUT": nil],
            warnings: ["OTEL_TRACES_SAMPLER is ignored", "OTEL_EXPORTER_OTLP_TIMEOUT is ignored"]),
        Variables(
            convention: "names of exporters, protocols and samplers may be in upper case",
            environment: otlp.merging([
                "OTEL_TRACES_EXPORTER": "OTLP", "OTEL_EXPORTER_OTLP_PROTOCOL": "HTTP/Protobuf",
                "OTEL_TRACES_SAMPLER": "ParentBased_TraceIDRatio", "OTEL_TRACES_SAMPLER_ARG": "0.5",
            ]) { $1 }, settings: ["tracing.endpoint": "http://collector:4318", "tracing.sampleRatio": "0.5"]),
        Variables(
            convention: "a sampler without a ratio, or with an empty one, samples everything",
            environment: ["OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": ""],
            settings: ["tracing.sampleRatio": "1"]),
        Variables(
            convention: "a ratio out of range is warned about and ignored",
            environment: ["OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "7"],
            settings: ["tracing.sampleRatio": "1"], warnings: ["OTEL_TRACES_SAMPLER is ignored"]),
        Variables(
            convention: "malformed headers are warned about without showing them",
            environment: otlp.merging(["OTEL_EXPORTER_OTLP_HEADERS": "geheim"]) { $1 },
            settings: ["tracing.headers": nil], warnings: ["OTEL_EXPORTER_OTLP_HEADERS is ignored"]),
        Variables(
            convention: "resource attributes describe the process",
            environment: ["OTEL_RESOURCE_ATTRIBUTES": "service.name=a,deployment.environment.name=b%20c"],
            settings: ["OTEL_RESOURCE_ATTRIBUTES": "service.name=a,deployment.environment.name=b%20c"]),
        Variables(
            convention: "resource attributes may have names and values of any characters",
            environment: ["OTEL_RESOURCE_ATTRIBUTES": "k8s.pod.label.a/b=x,city=%E6%9D%B1,"],
            settings: ["OTEL_RESOURCE_ATTRIBUTES": "k8s.pod.label.a/b=x,city=%E6%9D%B1,"]),
        Variables(
            convention: "malformed resource attributes are warned about",
            environment: ["OTEL_RESOURCE_ATTRIBUTES": "a=b,c", "OTEL_SERVICE_NAME": "a\nb"],
            settings: ["OTEL_RESOURCE_ATTRIBUTES": nil, "OTEL_SERVICE_NAME": nil],
            warnings: ["OTEL_SERVICE_NAME is ignored", "OTEL_RESOURCE_ATTRIBUTES is ignored"]),
        Variables(
            convention: "propagators and other signals' variables change nothing",
            environment: [
                "OTEL_PROPAGATORS": "b3", "OTEL_METRICS_EXPORTER": "otlp", "OTEL_LOGS_EXPORTER": "otlp",
                "OTEL_BSP_SCHEDULE_DELAY": "x",
            ], settings: ["tracing.endpoint": nil]),
    ]

    @Test(arguments: variables) func `Each variable is read as the convention demands`(row: Variables) throws {
        let settings = try SettingsReading(flags: [:], file: nil, environment: row.environment).checked()
        for (name, value) in row.settings { #expect(settings[name] == value, "\(name)") }
        #expect(settings.warnings.count == row.warnings.count, "\(settings.warnings)")
        for (warning, part) in zip(settings.warnings, row.warnings) { #expect(warning.contains(part), "\(warning)") }
        #expect(!settings.warnings.joined().contains("geheim"))
    }

    // MARK: - Proxies

    struct Route: Sendable, CustomTestStringConvertible {
        let convention: String
        /// PROXY stands for the proxy's URL.
        var environment: [String: String] = [:]
        var flags: [String: String] = [:]
        let url: String
        /// The first line that the proxy receives; `nil` if it receives none.
        let line: String?
        var testDescription: String { convention }
    }

    static let routes = [
        Route(
            convention: "HTTP_PROXY is for http URLs", environment: ["HTTP_PROXY": "PROXY"], url: "http://a.invalid/x",
            line: "GET http://a.invalid/x HTTP/1.1"),
        Route(
            convention: "HTTP_PROXY is not for https URLs", environment: ["HTTP_PROXY": "PROXY"],
            url: "https://a.invalid/",
            line: nil),
        Route(
            convention: "HTTPS_PROXY is for https URLs, by CONNECT", environment: ["HTTPS_PROXY": "PROXY"],
            url: "https://a.invalid/", line: "CONNECT a.invalid:443 HTTP/1.1"),
        Route(
            convention: "HTTPS_PROXY is not for http URLs", environment: ["HTTPS_PROXY": "PROXY"],
            url: "http://a.invalid/x", line: nil),
        Route(
            convention: "NO_PROXY names domains", environment: ["ALL_PROXY": "PROXY", "NO_PROXY": "b.test,.invalid"],
            url: "http://a.invalid/x", line: nil),
        Route(
            convention: "NO_PROXY names whole labels", environment: ["ALL_PROXY": "PROXY", "no_proxy": "nvalid"],
            url: "http://a.invalid/x", line: "GET http://a.invalid/x HTTP/1.1"),
        Route(
            convention: "NO_PROXY may be for all hosts", environment: ["HTTPS_PROXY": "PROXY", "NO_PROXY": "*"],
            url: "https://a.invalid/", line: nil),
        Route(
            convention: "a flag is for both schemes, and goes before variables",
            environment: ["HTTPS_PROXY": "http://127.0.0.1:1"], flags: ["http.proxy": "PROXY"],
            url: "https://a.invalid/",
            line: "CONNECT a.invalid:443 HTTP/1.1"),
    ]

    @Test(arguments: routes) func `Each call takes the route that the convention demands`(row: Route) async throws {
        let proxy = try RawServer { $0.answerAll("via proxy") }
        defer { proxy.stop() }
        func filled(_ values: [String: String]) -> [String: String] {
            values.mapValues { $0.replacing("PROXY", with: proxy.url) }
        }
        let settings = try Settings.load(flags: filled(row.flags), file: nil, environment: filled(row.environment))

        let loop = try EventLoop()
        let ways: [(HTTPConfiguration, String?)] = [(settings.http, row.line), (settings.adminHTTP, nil)]
        for (configuration, line) in ways {
            let before = proxy.requests.count
            let http = HTTPTransport(loop: loop, configuration: configuration)
            let deadline = Instant.now + .seconds(line == nil ? 2 : 20)
            _ = try? await http.send(HTTPRequest(url: row.url), before: deadline)
            await http.shutdown()
            let request: [UInt8]? = proxy.requests.dropFirst(before).first.map { Array($0) }
            let first = request.map { bytes in String(decoding: bytes.prefix { $0 != 13 }, as: UTF8.self) }
            #expect(first == line)
        }
        loop.stop()
    }

    // MARK: - Descriptors, locale and time zone

    struct Command: Sendable, CustomTestStringConvertible {
        let convention: String
        /// For /bin/sh, where $L is the program.
        let script: String
        var environment: [String: String] = [:]
        let code: Int32
        /// The whole standard error.
        var error = ""
        var testDescription: String { convention }
    }

    private static let full =
        "locsearch: standard output cannot be written (No space left on device): the result is cut short\n"

    static let outputs: [Command] = [
        "config", "config --json", "config --table", "config --metrics", "--help", "help worker", "--version",
        "simulate --list-faults", "topics create --print",
    ].map { command in
        Command(
            convention: "a full disk is an error: \(command)", script: "$L \(command) > /dev/full", code: 1, error: full
        )
    }

    static let descriptors = [
        Command(
            convention: "a reader that has gone away needs no message",
            script: "{ trap '' PIPE; while :; do $L config || { echo $? >&2; break; }; done; } | true", code: 0,
            error: "141\n"),
        Command(
            convention: "output that was closed at the start is an error", script: "$L config >&-", code: 1,
            error: full.replacing("No space left on device", with: "Bad file descriptor")),
        Command(convention: "input and errors may be closed", script: "$L config <&- 2>&- >/dev/null", code: 0),
    ]

    static let locales: [Command] = ["tr_TR.UTF-8", "de_DE.UTF-8", "C", "POSIX", "none"].map { locale in
        Command(
            convention: "a locale changes no result: \(locale)",
            script: #"test "$($L config --json)" = "$(env -u LC_ALL -u LANG $L config --json)""#,
            environment: ["LC_ALL": locale, "LANG": locale], code: 0)
    }

    static let zones: [Command] = [
        "", "Asia/Tokyo", "America/St_Johns", "Nowhere/Invalid", ":", "X-99", "../../etc/passwd",
    ].map { zone in
        Command(
            convention: "a time zone changes no result: \(zone)",
            script: #"test "$($L config --json)" = "$(env -u TZ $L config --json)""#, environment: ["TZ": zone], code: 0
        )
    }

    static let commands: [Command] = outputs + descriptors + locales + zones

    @Test(arguments: commands) func `Each command keeps the convention`(row: Command) async throws {
        // Demos of tests that run at the same time must not be found, because commands would use and name them.
        let own = ["L": RunningProgram.location.path, "XDG_RUNTIME_DIR": "/nowhere"]
        let environment = row.environment.merging(own) { $1 }
        let program = try await RunningProgram.run(["-c", row.script], environment: environment, at: "/bin/sh")
        #expect(program.code == row.code)
        #expect(program.error == row.error)
    }
}
