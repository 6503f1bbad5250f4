import Basics
import TestSupport
import Testing

@testable import HTTPTransport

struct HTTPRequestTests {
    private func sent(_ request: HTTPRequest) async throws -> String {
        let server = try RawServer { $0.answerAll() }
        var request = request
        request.url = server.url + request.url
        _ = try await withTransport { try await $0.send(request, before: .now + .seconds(20)) }
        let received = try #require(server.requests.first)
        return String(decoding: received, as: UTF8.self)
            .replacing("127.0.0.1:\(server.port)", with: "HOST").replacing("\r\n", with: "\n")
    }

    @Test func `A GET is sent unchanged`() async throws {
        let text = try await sent(HTTPRequest(url: "/v1/places/../x?keyword=%E3%81%82&a=b+c"))
        #expect(
            text == """
                GET /v1/places/../x?keyword=%E3%81%82&a=b+c HTTP/1.1
                Host: HOST
                Accept: */*
                Accept-Encoding: gzip
                User-Agent: locsearch


                """)
    }

    @Test(arguments: [
        ("", "/"), ("/", "/"), ("?a=b", "/?a=b"), ("#c", "/"), ("/x#c", "/x"), ("/x?a=b/?#c", "/x?a=b/?"),
        ("//x", "//x"),
    ])
    func `The target of a request is its path and query`(end: String, target: String) async throws {
        #expect(try await sent(HTTPRequest(url: end)).hasPrefix("GET \(target) HTTP/1.1\nHost: HOST\n"))
    }

    @Test func `Consecutive calls to two servers reach the right one`() async throws {
        let servers = try [RawServer { $0.answerAll() }, RawServer { $0.answerAll() }]
        try await withTransport { transport in
            for (server, end) in [(0, "/a?b"), (1, "/c"), (1, ""), (1, "/d"), (0, "#e"), (1, "/f#g"), (0, "/h")] {
                _ = try await transport.get(servers[server].url + end)
            }
        }
        let targets = servers.map { server in
            server.requests.map { String(decoding: $0, as: UTF8.self).split(separator: " ")[1] }
        }
        #expect(targets == [["/a?b", "/", "/h"], ["/c", "/", "/d", "/f"]])
    }

    @Test func `A POST is sent with its headers and body`() async throws {
        let body = Array("{\"a\":\"\u{0}\u{1F35C}\"}".utf8)
        let request = HTTPRequest(
            method: .post(body), url: "/v1/places:searchNearby",
            headers: [
                ("Content-Type", "application/json"), ("X-Goog-FieldMask", "places.id,places.name"), ("X-Empty", ""),
            ])
        #expect(
            try await sent(request) == """
                POST /v1/places:searchNearby HTTP/1.1
                Host: HOST
                Accept: */*
                Content-Type: application/json
                X-Goog-FieldMask: places.id,places.name
                X-Empty:
                Accept-Encoding: gzip
                User-Agent: locsearch
                Content-Length: \(body.count)

                \(String(decoding: body, as: UTF8.self))
                """)
    }

    @Test(arguments: [0, 1, 70_000, 1_500_000])
    func `A body of any size arrives completely`(count: Int) async throws {
        var random = SplitMix64(state: UInt64(count))
        let body = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        let server = try RawServer { $0.answerAll() }
        _ = try await withTransport {
            try await $0.send(HTTPRequest(method: .post(body), url: server.url), before: .now + .seconds(20))
        }
        #expect(server.requests.first?.suffix(count) == body[...])
    }

    @Test func `The headers and body of a call are not sent with the next`() async throws {
        let server = try RawServer { $0.answerAll() }
        try await withTransport { transport in
            let post = HTTPRequest(
                method: .post([65]), url: server.url, headers: [("X-Key", key), ("user-agent", "own")])
            for request in [post, HTTPRequest(url: server.url), post, HTTPRequest(url: server.url)] {
                _ = try await transport.send(request, before: .now + .seconds(20))
            }
        }
        let texts = server.requests.map { String(decoding: $0, as: UTF8.self) }
        #expect(texts.count == 4)
        for post in [texts[0], texts[2]] {
            #expect(post.hasPrefix("POST") && post.contains("X-Key: \(key)") && post.hasSuffix("\r\n\r\nA"))
            #expect(post.contains("user-agent: own") && !post.contains("locsearch"), "the caller's own replaces ours")
            #expect(!post.contains("Content-Type"), "none was given")
        }
        for get in [texts[1], texts[3]] {
            #expect(get.hasPrefix("GET") && !get.contains(key) && !get.contains("Content-Length"))
        }
    }

    @Test(arguments: [
        ("X", "a\r\nInjected: 1"), ("X", "a\nInjected: 1"), ("X", "a\u{0}b"), ("X", "\u{7f}"), ("X\r\nInjected", "1"),
        ("X: 1\r\nInjected", "1"), ("", "1"), ("X Y", "1"), ("X:", "1"), ("X\u{0}", "1"), ("\u{E9}", "1"),
    ])
    func `The transport refuses a header that could smuggle in another`(name: String, value: String) async throws {
        let server = try RawServer { $0.answerAll() }
        let request = HTTPRequest(url: "\(server.url)/?key=\(key)", headers: [(name, value)])
        #expect(try await withTransport { await $0.failure(of: request) } == .invalidRequest)
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: [
        "", "http", "http:", "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:6379/_x", "/v1/?key=\(key)",
        "http://127.0.0.1/\r\nX: 1", "http://127.0.0.1/a b", "http://127.0.0.1/\u{0}", "http://127.0.0.1/\u{E9}",
        "http://", "http:///x", "http://127.0.0.1:99999/?key=\(key)", "http://127.0.0.1:x/", "http://[::1/", "https//x",
    ])
    func `The transport refuses a text that is no HTTP URL`(url: String) async throws {
        #expect(try await withTransport { await $0.failure(of: HTTPRequest(url: url)) } == .invalidRequest)
    }

    /// Eight bytes are checked at a time, so the position matters, and so do the bytes around it.
    @Test func `A URL may contain every visible character at any position and no other`() {
        for position in 8...24 {
            for scalar in 0...0x80 as ClosedRange<UInt32> {
                for other in ["!", "~"] {
                    let characters = (8...25).map {
                        String($0 == position ? Character(Unicode.Scalar(UInt8(scalar))) : Character(other))
                    }
                    let request = HTTPRequest(url: "http://h/" + characters.joined())
                    let isRefused = (try? request.validated()) == nil
                    #expect(isRefused == !(0x21...0x7e).contains(scalar), "\(scalar) at \(position)")
                }
            }
        }
    }

    @Test func `An error names the host and nothing else of the URL`() async throws {
        let port = try RawServer.unusedPort()
        let url = "http://user:\(key)@127.0.0.1:\(port)/a/\(key)?key=\(key)#\(key)"
        let error = await #expect(throws: HTTPError.self) { try await withTransport { try await $0.get(url) } }
        #expect(error?.description == "127.0.0.1:\(port): the connection was refused, or the host is unreachable")
    }
}
