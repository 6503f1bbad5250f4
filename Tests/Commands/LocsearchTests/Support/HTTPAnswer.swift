import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The answer to an HTTP request of a test.
struct HTTPAnswer {
    let status: Int
    let body: String
    private let response: HTTPURLResponse

    /// Sends a request.
    /// - Parameter json: the body of a POST; `nil`: there is no body.
    /// - Parameter token: a bearer token.
    init(_ url: String, method: String = "GET", json: String? = nil, token: String? = nil) async throws {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = json == nil ? method : "POST"
        if let json {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(json.utf8)
        }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }

        let (data, response) = try await URLSession.shared.data(for: request)
        self.response = try #require(response as? HTTPURLResponse)
        (status, body) = (self.response.statusCode, String(decoding: data, as: UTF8.self))
    }

    func header(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }

    /// All headers as one text.
    var headers: String { "\(response.allHeaderFields)" }

    /// The body as an object of JSON; empty if it is none.
    var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
    }
}
