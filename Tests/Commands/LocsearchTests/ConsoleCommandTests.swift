import Console
import Foundation
import KafkaTestSupport
import LocationSearch
import TestSupport
import Testing

@testable import locsearch

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `locsearch console` as a process, and the `console.*` settings.
struct ConsoleCommandTests {
    private static let topics = [
        "location-search.requests": 1, "location-search.results": 1, "location-search.errors": 1,
    ]

    @Test(.timeLimit(.minutes(2))) func `The console serves its page until SIGTERM`() async throws {
        let broker = try TestBroker(topics: Self.topics)
        let names = ["requests", "results", "errors"].flatMap {
            ["--topics-\($0)", broker.name("location-search.\($0)")]
        }
        let console = try RunningProgram(
            ["console", "--kafka-bootstrap-servers", broker.bootstrapServers, "--console-port", "0"] + names)
        defer { console.end() }

        try await eventually("the console says where it is", within: .seconds(60)) { console.firstLine != nil }
        let url = try #require(console.firstLine?.split(separator: " ").last)
        let (page, _) = try await URLSession.shared.data(from: try #require(URL(string: "\(url)/")))
        #expect(String(decoding: page, as: UTF8.self).contains("<html"))

        console.signal(SIGTERM)
        try await eventually("the console ends", within: .seconds(30)) { !console.isRunning }
        #expect(console.code == 0, "\(console.error)")
    }

    @Test(.timeLimit(.minutes(2))) func `The console accepts a new token once its file has it`() async throws {
        let broker = try TestBroker(topics: Self.topics)
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data("the-first-token-of-it".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let names = ["requests", "results", "errors"].flatMap {
            ["--topics-\($0)", broker.name("location-search.\($0)")]
        }
        let console = try RunningProgram(
            [
                "console", "--kafka-bootstrap-servers", broker.bootstrapServers, "--console-port", "0",
                "--console-token-file", file.path,
            ] + names)
        defer { console.end() }
        try await eventually("the console says where it is", within: .seconds(60)) { console.firstLine != nil }
        let url = try #require(console.firstLine?.split(separator: " ").last)

        func status(showing token: String) async throws -> Int {
            var request = URLRequest(url: try #require(URL(string: "\(url)/api/config")))
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
            let (_, response) = try await URLSession.shared.data(for: request)
            return (response as? HTTPURLResponse)?.statusCode ?? 0
        }
        #expect(try await status(showing: "the-first-token-of-it") == 200)
        #expect(try await status(showing: "the-second-token-of-it") == 401)

        try Data("the-second-token-of-it".utf8).write(to: file)
        try await eventually("the new token counts") { try await status(showing: "the-second-token-of-it") == 200 }
        #expect(try await status(showing: "the-first-token-of-it") == 401)
        #expect(!(console.output + console.error).contains("the-first-token-of-it"))
    }

    @Test func `A console that reaches no broker ends with one line`() async throws {
        let console = try RunningProgram(["console", "--kafka-bootstrap-servers", "127.0.0.1:1", "--console-port", "0"])
        defer { console.end() }
        try await eventually("the console ends", within: .seconds(60)) { !console.isRunning }

        #expect(console.code == 69)
        #expect(console.error.contains("the console cannot read from 127.0.0.1:1"), "\(console.error)")
        #expect(console.error.split(separator: "\n").count == 1, "\(console.error)")
    }

    private static func settings(_ values: [String: String]) throws -> Settings {
        try Settings.load(flags: values, file: nil, environment: [:])
    }

    @Test func `A console that other machines can reach requires a token`() throws {
        let open = try Self.settings(["console.host": "0.0.0.0"])
        let error = #expect(throws: SettingsError.self) { _ = try open.console() }
        #expect(error?.description.contains("set console.token") == true)

        for cure in [["console.token": "0123456789abcdef"], ["console.allowAnonymous": "true"]] {
            _ = try Self.settings(cure.merging(["console.host": "0.0.0.0"]) { $1 }).console()
        }
        _ = try Self.settings(["console.host": "localhost"]).console()
    }

    @Test func `The console's host names are read from its settings`() throws {
        let console = try Self.settings([
            "console.host": "0.0.0.0", "console.allowAnonymous": "true",
            "console.allowedHosts": "Maps.Example, 192.0.2.7,[2001:db8::7], fe80::1",
        ]).console()
        #expect(console.allowedHosts == ["maps.example", "192.0.2.7", "2001:db8::7", "fe80::1"])
        #expect(try Self.settings([:]).console().allowedHosts.isEmpty)
    }

    @Test(arguments: [
        "http://maps.example", "maps.example:8081", "*", "a,,b", "a b", "[maps.example]", "ä.example", "a/b",
    ])
    func `A host name that no browser sends is rejected`(text: String) {
        let error = #expect(throws: SettingsError.self) { _ = try Self.settings(["console.allowedHosts": text]) }
        #expect(error?.description.contains("console.allowedHosts") == true)
    }

    @Test(arguments: ["console", "admin"]) func `A short token is rejected at the start`(part: String) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data("fifteen-letters\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }

        for (setting, value) in [("\(part).token", "fifteen-letters"), ("\(part).tokenFile", file.path)] {
            let settings = try Self.settings([setting: value])
            let error = #expect(throws: SettingsError.self) {
                _ = try part == "console" ? settings.consoleToken() : settings.adminToken()
            }
            let text = try #require(error?.description)
            #expect(text.hasPrefix("\(setting): the token has 15 characters; at least 16"))
            #expect(!text.contains("fifteen-letters") && !text.contains("\n"))
        }
        #expect(try Self.settings(["\(part).token": "sixteen-letters-"])["\(part).token"] != nil)
    }

    @Test(.timeLimit(.minutes(2))) func `The console sends workers a new token once its file has it`() async throws {
        let worker = try RawServer { $0.answerAll() }
        let broker = try TestBroker(topics: Self.topics)
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data("the-old-token-of-workers".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let names = ["requests", "results", "errors"].flatMap {
            ["--topics-\($0)", broker.name("location-search.\($0)")]
        }
        let console = try RunningProgram(
            [
                "console", "--kafka-bootstrap-servers", broker.bootstrapServers, "--console-port", "0",
                "--console-workers", worker.url, "--admin-token-file", file.path,
            ] + names)
        defer { console.end() }
        try await eventually("the console says where it is", within: .seconds(60)) { console.firstLine != nil }
        let port = try #require(console.firstLine?.split(separator: ":").last.flatMap { Int($0) })

        // The workers are queried while a page is open.
        let page = try LoopbackConnection(port: port)
        page.send("GET /api/traffic/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        func isShown(_ token: String) -> Bool {
            worker.requests.contains { String(decoding: $0, as: UTF8.self).contains("Bearer \(token)\r\n") }
        }
        try await eventually("the old token is shown") { isShown("the-old-token-of-workers") }

        try Data("the-new-token-of-workers".utf8).write(to: file)
        try await eventually("the new token is shown") { isShown("the-new-token-of-workers") }
        #expect(!(console.output + console.error).contains("-token-of-workers"))
        withExtendedLifetime(page) {}
    }

    @Test(arguments: [
        "https://tiles.example/{z}/{x}.png", "ftp://tiles.example/{z}/{x}/{y}.png",
        "https://tiles.example; script-src *; /{z}/{x}/{y}", "https://tiles.example/{z}/{x}/{y} ",
    ])
    func `A tile URL that cannot be shown is rejected at the start`(url: String) throws {
        let settings = try Self.settings(["console.tileURL": url, "console.tileAttribution": "Somebody"])
        let error = #expect(throws: SettingsError.self) { _ = try settings.console() }
        #expect(error?.description.contains("console.tileURL") == true)
    }

    @Test func `Tiles require an attribution`() throws {
        let url = "https://tiles.example/{z}/{x}/{y}.png"
        let error = #expect(throws: SettingsError.self) { _ = try Self.settings(["console.tileURL": url]).console() }
        #expect(error?.description.contains("console.tileAttribution") == true)

        let tiles = try Self.settings(["console.tileURL": url, "console.tileAttribution": "Somebody"]).console().tiles
        #expect(tiles == .init(url: url, attribution: "Somebody"))
    }

    @Test(arguments: ["91,0", "1", "a,b", "1,2,3", "nan,1", ""])
    func `A start that is no position is rejected`(text: String) {
        #expect(throws: SettingsError.self) { _ = try Self.settings(["console.start": text]) }
    }

    @Test func `A worker's host name is resolved to its addresses`() async {
        #expect(await HostAddresses.all(of: ["http://localhost:8080"]) == ["http://127.0.0.1:8080"])
        #expect(
            await HostAddresses.all(of: ["http://127.0.0.1:1", "https://localhost:2", "http://127.0.0.1:1"])
                == ["http://127.0.0.1:1", "https://localhost:2"])
        #expect(await HostAddresses.all(of: ["http://nobody.invalid:3"]) == ["http://nobody.invalid:3"])
    }
}
