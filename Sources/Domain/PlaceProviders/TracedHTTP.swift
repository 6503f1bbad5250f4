public import Basics
public import HTTPTransport
internal import LocationSearch
import Tracing

/// Adds the HTTP details of a traced call to its span: method, address, status.
///
/// Used between the services and the transport if requests are traced; otherwise the services use the transport directly.
/// Nothing is added to the request: a provider is a third party and receives no trace.
public struct TracedHTTP: HTTPSending {
    private let http: any HTTPSending

    public init(_ http: any HTTPSending) { self.http = http }

    public func begin(
        _ request: HTTPRequest, before deadline: Instant,
        then end: @escaping HTTPCompletion
    ) -> (any Cancellable)? {
        guard let span = CallSpan.current else { return http.begin(request, before: deadline, then: end) }

        Self.note(request, on: span)
        return http.begin(request, before: deadline) { result in
            if case .success(let response) = result {
                span.updateAttributes { $0["http.response.status_code"] = response.status }
            }
            end(result)
        }
    }

    private static func note(_ request: HTTPRequest, on span: any Span) {
        let method =
            switch request.method {
            case .get: "GET"
            case .post: "POST"
            }
        span.operationName = "\(method) \(span.operationName)"
        span.updateAttributes { attributes in
            attributes["http.request.method"] = method
            let address = CallAddress(request.url)
            attributes["url.full"] = address.withoutQuery
            attributes["server.address"] = address.host
            attributes["server.port"] = address.port
        }
    }
}

/// The parts of a provider's URL that a trace may show: all but the query, which holds the key and the user's position.
struct CallAddress: Hashable {
    let withoutQuery: String
    let host: String
    let port: Int

    /// - Parameter url: absolute, http or https.
    init(_ url: String) {
        withoutQuery = String(url.prefix { $0 != "?" && $0 != "#" })
        let isSecure = withoutQuery.lowercased().hasPrefix("https:")
        let afterScheme = withoutQuery.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let authority = afterScheme.count > 2 ? afterScheme[2].prefix { $0 != "/" } : ""

        // An IPv6 address is in brackets and contains colons.
        if let colon = authority.lastIndex(of: ":"), authority[colon...].allSatisfy({ $0 != "]" }),
            let port = Int(authority[authority.index(after: colon)...])
        {
            self.port = port
            host = Self.unbracketed(authority[..<colon])
        } else {
            port = isSecure ? 443 : 80
            host = Self.unbracketed(authority)
        }
    }

    private static func unbracketed(_ host: Substring) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : String(host)
    }
}
