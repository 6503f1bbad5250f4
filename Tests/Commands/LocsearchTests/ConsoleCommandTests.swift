import Console
import Foundation
import TestSupport
import Testing

@testable import locsearch

/// `locsearch console` as a process, and the `console.*` settings.
struct ConsoleCommandTests {
    @Test(.timeLimit(.minutes(2))) func `The console serves its page until SIGTERM`() async throws {
        let console = try await ConsoleProcess()
        #expect(try await HTTPAnswer("\(console.url)/").body.contains("<html"))

        try await console.program.terminate()
        #expect(console.program.code == 0, "\(console.program.error)")
    }

    /// Writes a text to a new file.
    private static func file(with text: String) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data(text.utf8).write(to: file)
        return file
    }

    @Test(.timeLimit(.minutes(2))) func `The console accepts a new token once its file has it`() async throws {
        let (first, second) = ("the-first-token-of-it", "the-second-token-of-it")
        let file = try Self.file(with: first)
        defer { try? FileManager.default.removeItem(at: file) }
        let console = try await ConsoleProcess(["--console-token-file", file.path])

        let url = "\(console.url)/api/config"
        #expect(try await HTTPAnswer(url, token: first).status == 200)
        #expect(try await HTTPAnswer(url, token: second).status == 401)

        try Data(second.utf8).write(to: file)
        try await eventually("the new token counts") { try await HTTPAnswer(url, token: second).status == 200 }
        #expect(try await HTTPAnswer(url, token: first).status == 401)
        #expect(!(console.program.output + console.program.error).contains(first))
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
        let file = try Self.file(with: "fifteen-letters\n")
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
        let file = try Self.file(with: "the-old-token-of-workers")
        defer { try? FileManager.default.removeItem(at: file) }
        let console = try await ConsoleProcess(["--console-workers", worker.url, "--admin-token-file", file.path])

        // The workers are queried while a page is open.
        let page = try console.connect("/api/traffic/events")
        func isShown(_ token: String) -> Bool {
            worker.requests.contains { String(decoding: $0, as: UTF8.self).contains("Bearer \(token)\r\n") }
        }
        try await eventually("the old token is shown") { isShown("the-old-token-of-workers") }

        try Data("the-new-token-of-workers".utf8).write(to: file)
        try await eventually("the new token is shown") { isShown("the-new-token-of-workers") }
        #expect(!(console.program.output + console.program.error).contains("-token-of-workers"))
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

    /// True if this machine's file of hosts has the name only with its IPv6 address, as Debian's has.
    private static var hasNameOfIPv6: Bool {
        let find = { try? NetworkAddress.resolve("ip6-localhost", port: 80, family: $0).map(\.host) }
        return find(AF_INET) == nil && find(AF_INET6) == ["::1"]
    }

    @Test(.enabled(if: hasNameOfIPv6, "this machine has no name ip6-localhost"))
    func `A worker's host name without an IPv4 address is resolved to IPv6`() async {
        #expect(await HostAddresses.all(of: ["http://ip6-localhost:8080"]) == ["http://[::1]:8080"])
    }
}
