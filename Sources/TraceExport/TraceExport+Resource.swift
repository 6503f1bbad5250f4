#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Describes the process that the spans of an export come from.
extension TraceExport {
    static func request(_ configuration: TraceExportConfiguration) -> OTLPRequest {
        OTLPRequest(
            resource: [
                (name: "host.name", value: hostName),
                (name: "process.pid", value: "\(getpid())"),
                (name: "service.instance.id", value: "\(hostName)-\(getpid())"),
                (name: "service.name", value: configuration.serviceName),
                (name: "service.version", value: configuration.serviceVersion),
                (name: "telemetry.sdk.language", value: "swift"),
            ].filter { !$0.value.isEmpty },
            scope: (name: "location-search-worker", version: configuration.serviceVersion))
    }

    /// The name of this machine or container; empty where there is none.
    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
