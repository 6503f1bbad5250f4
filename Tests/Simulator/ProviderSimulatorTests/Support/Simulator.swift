import Foundation
import ProviderSimulator

/// A running simulator and the calls that tests make. It shuts down once its test has released it.
final class Simulator: Sendable {
    let server: SimulatorServer
    let port: Int

    init(_ change: (inout SimulatorConfiguration) -> Void = { _ in }) async throws {
        var configuration = SimulatorConfiguration()
        configuration.pageTokenDelay = .milliseconds(150)
        change(&configuration)
        server = try await SimulatorServer.start(configuration)
        port = server.port
    }

    deinit {
        Task { [server] in await server.shutdown() }
    }

    func get(_ path: String, _ headers: [String: String] = [:], patience: Double = 30) async throws -> Answer {
        try await call("GET", path, headers, body: nil, patience: patience)
    }

    func post(_ path: String, _ headers: [String: String] = [:], _ body: String, patience: Double = 30) async throws
        -> Answer
    {
        try await call("POST", path, headers, body: body, patience: patience)
    }

    func call(
        _ method: String, _ path: String, _ headers: [String: String], body: String?, patience: Double = 30,
        bodyPatience: Double? = nil
    ) async throws -> Answer {
        try await blocking {
            let client = try RawClient(port: self.port)
            client.send(Self.request(method, path, headers, body: body))
            return client.answer(patience: patience, bodyPatience: bodyPatience, isHead: method == "HEAD")
        }
    }

    static func request(_ method: String, _ path: String, _ headers: [String: String], body: String?) -> String {
        var lines = ["\(method) \(encoded(path)) HTTP/1.1", "Host: localhost"]
        lines += headers.map { "\($0.key): \($0.value)" }
        if let body { lines += ["Content-Length: \(body.utf8.count)", "Content-Type: application/json"] }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
    }

    /// Encodes only characters that are invalid in a request line.
    private static func encoded(_ path: String) -> String {
        path.utf8.map { byte in
            byte > 0x20 && byte < 0x7F
                ? String(UnicodeScalar(byte)) : "%" + String(Int(byte) + 0x100, radix: 16).suffix(2)
        }.joined()
    }

    // MARK: The three providers

    static let spot = "lat=35.690921&lng=139.700258"
    static let mask = "places.id,places.displayName,places.location,places.types,nextPageToken"

    func gourmet(_ parameters: String, key: String? = "key=k") async throws -> Answer {
        let start = key.map { "\($0)&" } ?? ""
        return try await get("/hotpepper/gourmet/v1/?\(start)format=json&\(parameters)")
    }

    func nearby(_ parameters: String, key: String? = "key=k") async throws -> Answer {
        try await get("/maps/api/place/nearbysearch/json?\(key.map { "\($0)&" } ?? "")\(parameters)")
    }

    static func circle(_ radius: String = "1000", latitude: String = "35.690921", longitude: String = "139.700258")
        -> String
    {
        "{\"circle\":{\"center\":{\"latitude\":\(latitude),\"longitude\":\(longitude)},\"radius\":\(radius)}}"
    }

    static let box =
        "{\"rectangle\":{\"low\":{\"latitude\":35.68,\"longitude\":139.69},\"high\":{\"latitude\":35.70,\"longitude\":139.71}}}"

    func new(
        _ call: String, _ body: String, mask: String? = Simulator.mask, key: String? = "k"
    ) async throws -> Answer {
        var headers: [String: String] = [:]
        headers["X-Goog-FieldMask"] =
            call == "searchNearby" ? mask?.replacingOccurrences(of: ",nextPageToken", with: "") : mask
        headers["X-Goog-Api-Key"] = key
        return try await post("/v1/places:\(call)", headers, body)
    }

    /// Searches at a provider, with a fault's name in place of a keyword or a type.
    func search(
        _ api: Provider, _ fault: String, _ more: [String: String] = [:], patience: Double = 30,
        bodyPatience: Double? = nil
    ) async throws -> Answer {
        let (method, path, headers, body) = Self.search(api, fault)
        return try await call(
            method, path, headers.merging(more) { $1 }, body: body, patience: patience, bodyPatience: bodyPatience)
    }

    /// Sends the same search without waiting for the answer.
    func begin(_ api: Provider, _ fault: String) throws -> RawClient {
        let (method, path, headers, body) = Self.search(api, fault)
        let client = try RawClient(port: port)
        client.send(Self.request(method, path, headers, body: body))
        return client
    }

    private static func search(
        _ api: Provider, _ fault: String
    ) -> (method: String, path: String, headers: [String: String], body: String?) {
        switch api {
        case .hotpepper:
            ("GET", "/hotpepper/gourmet/v1/?key=k&format=json&\(spot)&keyword=\(fault)", [:], nil)
        case .legacy:
            (
                "GET",
                "/maps/api/place/nearbysearch/json?key=k&location=35.690921,139.700258&radius=1000&keyword=\(fault)",
                [:], nil
            )
        case .new:
            (
                "POST", "/v1/places:searchText", ["X-Goog-Api-Key": "k", "X-Goog-FieldMask": mask],
                "{\"textQuery\":\"ramen \(fault)\",\"locationRestriction\":\(box)}"
            )
        }
    }

    enum Provider: String, CaseIterable, Sendable {
        case hotpepper
        case legacy = "google-places-legacy"
        case new = "google-places"
    }

    // MARK: Control

    func stats(_ provider: Provider? = nil) async throws -> [String: Any] {
        let all = try await get("/_sim/stats").object
        guard let provider else { return all }
        return (all["apis"] as? [String: Any])?[provider.rawValue] as? [String: Any] ?? [:]
    }

    func configure(_ json: String) async throws -> Answer { try await post("/_sim/config", [:], json) }
}

extension Answer {
    /// Hot Pepper's `results`.
    var results: [String: Any] { object["results"] as? [String: Any] ?? [:] }
    var shops: [[String: Any]] { results["shop"] as? [[String: Any]] ?? [] }
    /// Hot Pepper's error code.
    var code: Int? { (results["error"] as? [[String: Any]])?.first?["code"] as? Int }
    /// The legacy API's status.
    var legacyStatus: String? { object["status"] as? String }
    var legacyResults: [[String: Any]] { object["results"] as? [[String: Any]] ?? [] }
    /// The new API's places.
    var places: [[String: Any]] { object["places"] as? [[String: Any]] ?? [] }
    var error: [String: Any] { object["error"] as? [String: Any] ?? [:] }
    var reasons: [String] {
        (error["details"] as? [[String: Any]] ?? []).compactMap { $0["reason"] as? String }
    }
}

func ids(_ places: [[String: Any]], _ name: String = "id") -> [String] { places.compactMap { $0[name] as? String } }

/// Returns the distance between two positions on a sphere, in metres.
func metres(_ a: (Double, Double), _ b: (Double, Double)) -> Double {
    let (p, q) = (a.0 * .pi / 180, b.0 * .pi / 180)
    let (y, x) = (sin((q - p) / 2), sin((b.1 - a.1) * .pi / 360))
    return 2 * 6_371_008.8 * asin((y * y + cos(p) * cos(q) * x * x).squareRoot())
}
