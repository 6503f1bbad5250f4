import Foundation
import Synchronization
import Testing

@testable import Console

/// Pictures of places, whose URLs come from untrusted records.
struct ConsolePictureTests {
    private static let hosts = PictureHosts(["imgfp.hotp.jp", "LH3.googleusercontent.com"])

    @Test(arguments: [
        "https://imgfp.hotp.jp/IMGH/1.jpg", "https://IMGFP.hotp.jp/", "https://lh3.googleusercontent.com/a/b=s100",
    ])
    func `A picture of a listed host is fetched there`(url: String) {
        #expect(Self.hosts.address(of: url) == url)
    }

    @Test(arguments: [
        "http://imgfp.hotp.jp/1.jpg", "https://imgfp.hotp.jp:8443/1.jpg", "https://imgfp.hotp.jp@169.254.169.254/",
        "https://169.254.169.254/latest/meta-data", "https://imgfp.hotp.jp.evil.example/",
        "https://evil.example/imgfp.hotp.jp",
        "file:///etc/passwd", "https://imgfp.hotp.jp\\@evil.example/", "https://imgfp.hotp.jp/\u{0}", "https://", "",
        "https://imgfp.hotp.jp/a b", "https://imgfp.hotp.jp/\r\nHost: evil", "https://imgfp.hotp.jp?x@evil.example",
    ])
    func `A record cannot send the console to any other address`(url: String) {
        #expect(Self.hosts.address(of: url) == nil)
    }

    @Test func `The simulator replaces all picture hosts`() {
        let hosts = PictureHosts(["imgfp.hotp.jp"], insteadOfThem: "http://127.0.0.1:8090/pictures")
        #expect(hosts.address(of: "https://imgfp.hotp.jp/a/1.jpg") == "http://127.0.0.1:8090/pictures/a/1.jpg")
        #expect(hosts.address(of: "https://evil.example/a") == nil)
    }

    @Test(arguments: [
        ("image/jpeg", "image/jpeg"), ("Image/PNG; charset=x", "image/png"), ("text/html", nil), (nil, nil),
    ])
    func `Only pictures are returned`(type: String?, expected: String?) {
        #expect(Picture(contentType: type, bytes: [1])?.type == expected)
        #expect(Picture(contentType: type, bytes: []) == nil)
    }

    @Test func `A picture cannot run scripts in the page`() async throws {
        let console = try await RunningConsole { $0.pictureHosts = Self.hosts }
        let url = "https://imgfp.hotp.jp/1.svg"
        console.backend.state.withLock {
            $0.pictures[url] = Picture(contentType: "image/svg+xml", bytes: Array("<svg><script/></svg>".utf8))
        }

        let answer = try await console.get("/api/pictures?url=https%3A%2F%2Fimgfp.hotp.jp%2F1.svg")
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "image/svg+xml")
        #expect(answer.headers["content-security-policy"]?.contains("sandbox") == true)
        #expect(answer.headers["x-content-type-options"] == "nosniff")

        #expect(try await console.get("/api/pictures?url=https%3A%2F%2F169.254.169.254%2F").status == 404)
        #expect(console.backend.state.withLock { $0.fetched } == [url])
    }
}
