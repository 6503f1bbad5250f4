/// Environment variables that are shared by many programs: those of OpenTelemetry and proxies, and those that
/// Kubernetes sets for services.
enum SharedVariables {
    /// The shared variables of each setting, in order of precedence. A list that contains the setting's own variable
    /// replaces the default order.
    static let names: [String: [String]] = [
        "http.proxy": ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
        "HTTPS_PROXY": ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        "http.noProxy": ["no_proxy", "NO_PROXY"],
        "tracing.endpoint": ["OTEL_TRACES_EXPORTER"] + otlp("PROTOCOL") + otlp("ENDPOINT"),
        "tracing.headers": otlp("HEADERS"),
        "OTEL_EXPORTER_OTLP_TIMEOUT": otlp("TIMEOUT"),
        "tracing.sampleRatio": ["OTEL_TRACES_SAMPLER"],
        "OTEL_RESOURCE_ATTRIBUTES": ["OTEL_RESOURCE_ATTRIBUTES"],
        "OTEL_SERVICE_NAME": ["OTEL_SERVICE_NAME"],
    ]

    private static func otlp(_ name: String) -> [String] {
        ["OTEL_EXPORTER_OTLP_TRACES_\(name)", "OTEL_EXPORTER_OTLP_\(name)"]
    }

    static func all(of setting: Setting) -> [String] {
        let (own, shared) = (setting.environmentName, names[setting.name] ?? [])
        return shared.contains(own) ? shared : [own] + shared
    }

    /// Returns the value that a variable gives to its setting; `nil` if it gives none.
    /// - Throws: why the variable is not used.
    static func value(of name: String, in environment: [String: String]) throws(SettingsError) -> String? {
        guard let text = environment[name] else { return nil }

        let choice = text.lowercased()
        switch name {
        case "OTEL_TRACES_EXPORTER":
            guard choice != "none" else { return "off" }
            if ["", "otlp"].contains(choice) { return nil }
            throw SettingsError("\(name) names an exporter that locsearch does not support: expected otlp or none")
        case "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL":
            let particular = environment["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"].flatMap { $0.isEmpty ? nil : $0 }
            if ["", "http/protobuf"].contains(particular?.lowercased() ?? choice) { return nil }
            throw SettingsError(
                "traces are exported by http/protobuf only, for which collectors usually listen on port 4318")
        case "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT":
            return text.isEmpty ? nil : text + "ms"
        case "OTEL_TRACES_SAMPLER":
            let ratio = environment["OTEL_TRACES_SAMPLER_ARG"].flatMap { $0.isEmpty ? nil : $0 } ?? "1"
            let ratios = ["": "", "always_on": "1", "always_off": "0", "traceidratio": ratio]
            if let ratio = ratios[choice.replacing("parentbased_", with: "")] { return ratio }
            throw SettingsError(
                "\(name) names a sampler that locsearch does not support: expected always_on, always_off or traceidratio, with or without parentbased_"
            )
        default:
            let isService = name.hasSuffix("_PORT") && ["tcp://", "udp://", "sctp://"].contains(where: text.hasPrefix)
            if isService { throw SettingsError("\(name)=\(text) was set by Kubernetes for a service of that name") }
            return text
        }
    }
}
