import Console
import Foundation
import HTTPServing
import Synchronization
import TestSupport
import Testing

/// Access to the console, and the restrictions that a browser applies to its page.
struct ConsoleAccessTests {
    private static let token = "a-token-of-the-console"

    private static func withToken() async throws -> RunningConsole {
        try await RunningConsole { $0.token = BearerToken(token) }
    }

    /// The answer to a page of a host name, without and with allowed names. There is no token.
    @Test(arguments: [
        ("localhost:8081", 200, 200), ("127.0.0.1", 200, 200), ("[::1]:8081", 200, 200), ("maps.example", 403, 200),
        ("MAPS.example:8443", 403, 200), ("Maps.Example.:8443", 403, 200), ("192.0.2.7:8081", 403, 200),
        ("[2001:db8::7]:8081", 403, 200), ("evil.example", 403, 403), ("evil.example:8081", 403, 403),
        ("127.0.0.1.evil.example", 403, 403), ("x.maps.example", 403, 403), ("[::2]:80", 403, 403), ("", 403, 403),
    ])
    func `Only local and allowed host names are answered`(host: String, plain: Int, allowed: Int) async throws {
        for (names, status) in [([], plain), (["maps.example", "192.0.2.7", "2001:DB8:0:0::7"], allowed)] {
            let console = try await RunningConsole { $0.allowedHosts = names }
            let page = try EventStreamClient(port: console.port, path: "/api/config", host: host)
            #expect(try await page.status() == status, "\(names)")
        }
    }

    @Test func `Without the token, only the probe is answered`() async throws {
        let console = try await Self.withToken()
        for path in [
            "/api/config", "/api/traffic/events", "/api/sessions/s/events", "/api/dead-letters", "/api/nothing",
        ] {
            #expect(try await console.get(path).status == 401, "\(path)")
        }
        let post = try await console.post("/api/sessions/s/requests", "{}")
        #expect(post.status == 401)
        #expect(try await console.get("/api/config", headers: ["Authorization": "Bearer wrong"]).status == 401)
        #expect(try await console.get("/api/config", headers: ["Authorization": "Bearer \(Self.token)"]).status == 200)
        #expect(try await console.get("/livez").status == 200)
    }

    @Test(arguments: ["/", "/traffic", "/request", "/request?id=r-1", "/dead-letters", "/login"])
    func `A page without a login is the login form`(path: String) async throws {
        let console = try await Self.withToken()
        let page = try await console.get(path)

        #expect(page.status == (path == "/login" ? 200 : 401))
        #expect(page.headers["content-type"] == "text/html; charset=utf-8")
        #expect(page.body.contains("id=\"login\""))
    }

    @Test func `A browser exchanges the token for a cookie`() async throws {
        let console = try await Self.withToken()
        let wrong = try await console.post("/api/login", #"{"token":"a-token-of-the-consolE"}"#)
        #expect(wrong.status == 401)
        #expect(wrong.headers["set-cookie"] == nil)
        #expect(!wrong.body.contains(Self.token))

        let login = try await console.post("/api/login", #"{"token":"\#(Self.token)"}"#)
        #expect(login.status == 204)
        let cookie = try #require(login.headers["set-cookie"])
        #expect(cookie.contains("HttpOnly"))
        #expect(cookie.contains("SameSite=Strict"))
        #expect(!cookie.contains(Self.token))

        let pair = try #require(cookie.split(separator: ";").first.map(String.init))
        #expect(try await console.get("/api/config", headers: ["Cookie": pair]).status == 200)
        #expect(try await console.get("/api/config", headers: ["Cookie": pair + "x"]).status == 401)
        // A browser sends a console the cookies of all programs on its host.
        let others = "a=1; \(pair); locsearch-console-x=2; b"
        #expect(try await console.get("/api/config", headers: ["Cookie": others]).status == 200)
    }

    @Test func `A login at another console of the host ends no login`() async throws {
        let consoles = try await [Self.withToken(), Self.withToken()]
        var cookies: [String: String] = [:]
        for console in consoles {
            let login = try await console.post("/api/login", #"{"token":"\#(Self.token)"}"#)
            let cookie = try #require(login.headers["set-cookie"]?.split(separator: ";").first)
            let parts = cookie.split(separator: "=").map(String.init)
            cookies[parts[0]] = parts[1]
        }

        // A browser keeps one cookie of each name, and sends it to all ports of the host.
        let sent = cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
        for console in consoles {
            #expect(try await console.get("/api/config", headers: ["Cookie": sent]).status == 200)
        }
    }

    @Test func `A new token ends the logins with the former one`() async throws {
        let token = BearerToken(Self.token)
        let console = try await RunningConsole { $0.token = token }
        let login = try await console.post("/api/login", #"{"token":"\#(Self.token)"}"#)
        let cookie = try #require(login.headers["set-cookie"]?.split(separator: ";").first.map(String.init))
        #expect(try await console.get("/api/config", headers: ["Cookie": cookie]).status == 200)

        token.replace(with: "another-token-of-the-console")
        #expect(try await console.get("/api/config", headers: ["Cookie": cookie]).status == 401)
    }

    @Test func `Wrong tokens in a header and in the form count together`() async throws {
        let console = try await Self.withToken()
        var statuses: [Int] = []
        for number in 0..<40 {
            let guess = "Bearer guess-\(number)-of-a-token"
            statuses.append(try await console.get("/api/config", headers: ["Authorization": guess]).status)
        }
        #expect(statuses.count { $0 == 401 } < 20, "\(statuses)")
        #expect(statuses.last == 429)

        let login = try await console.post("/api/login", #"{"token":"\#(Self.token)"}"#)
        #expect(login.status == 429, "it is not looked at either")
        #expect(Int(login.headers["retry-after"] ?? "") ?? 0 > 0)
        #expect(login.headers["set-cookie"] == nil)
    }

    @Test func `A logged-in browser is not limited by the guesses of others`() async throws {
        let console = try await Self.withToken()
        let login = try await console.post("/api/login", #"{"token":"\#(Self.token)"}"#)
        let cookie = try #require(login.headers["set-cookie"]?.split(separator: ";").first.map(String.init))
        for number in 0..<15 { _ = try await console.post("/api/login", #"{"token":"guess-\#(number)"}"#) }

        #expect(try await console.get("/api/config", headers: ["Cookie": cookie]).status == 200)
    }

    @Test(arguments: ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
    func `A form of another site is rejected`(type: String) async throws {
        let console = try await RunningConsole()
        let answer = try await console.post("/api/sessions/s/requests", "{}", headers: ["Content-Type": type])

        #expect(answer.status == 400)
        #expect(console.backend.state.withLock { $0.sent.isEmpty })
    }

    @Test func `A browser may load only the console's files and its tiles`() async throws {
        let plain = try await RunningConsole()
        let policy = try #require(try await plain.get("/").headers["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
        #expect(!policy.contains("unsafe"))
        #expect(!policy.contains("https:"))

        let tiled = try await RunningConsole {
            $0.tiles = .init(url: "https://tiles.example/{z}/{x}/{y}.png", attribution: "Somebody")
        }
        #expect(
            try await tiled.get("/").headers["content-security-policy"]?
                .contains("img-src 'self' data: https://tiles.example;") == true)
        #expect(try await tiled.get("/api/config").body.contains("\"attribution\":\"Somebody\""))
    }

    /// A source may have a wildcard only in place of the first labels, not within one.
    @Test(arguments: [
        (
            "https://{s}.tiles.example/{z}/{x}/{y}.png",
            "https://a.tiles.example https://b.tiles.example https://c.tiles.example"
        ),
        (
            "https://tile-{s}.openstreetmap.fr/hot/{z}/{x}/{y}.png",
            "https://tile-a.openstreetmap.fr https://tile-b.openstreetmap.fr https://tile-c.openstreetmap.fr"
        ),
    ])
    func `A browser may load tiles from all three hosts`(url: String, sources: String) async throws {
        let console = try await RunningConsole { $0.tiles = .init(url: url, attribution: "Somebody") }
        let policy = try #require(try await console.get("/").headers["content-security-policy"])
        #expect(policy.contains("img-src 'self' data: \(sources);"), "\(policy)")
    }

    @Test(arguments: ["/assets/../ConsoleServer.swift", "/assets/%2e%2e%2fsecret", "/assets/x"])
    func `Only the page's own files are served`(path: String) async throws {
        let console = try await RunningConsole()
        let connection = try EventStreamClient(port: console.port, path: path)
        #expect(try await connection.status() == 404)
    }
}
