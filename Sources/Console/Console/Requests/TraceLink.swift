/// Links to traces in a tracing system's web interface, such as Jaeger's.
package struct TraceLink: Sendable, Hashable {
    private static let placeholder = "{traceId}"

    private let template: String

    /// - Parameter template: an http or https URL with `{traceId}`, without a user or a password.
    /// - Returns: `nil` for any other text.
    package init?(_ template: String) {
        let isWeb = template.hasPrefix("https://") || template.hasPrefix("http://")
        let isPlain = template.allSatisfy { $0.isASCII && !$0.isWhitespace && !"\"'<>\\".contains($0) }
        let host = template.drop { $0 != "/" }.drop { $0 == "/" }.prefix { !"/?#".contains($0) }
        guard isWeb, isPlain, !host.isEmpty, !host.contains("@"), !host.contains("{"),
            template.contains(Self.placeholder)
        else { return nil }
        self.template = template
    }

    /// Returns the URL of a trace.
    /// - Parameter traceID: 32 hexadecimal digits, as in `TraceContext`.
    package func url(of traceID: String) -> String {
        template.replacing(Self.placeholder, with: traceID)
    }
}
