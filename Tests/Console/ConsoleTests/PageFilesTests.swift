import Foundation
import TestSupport
import Testing

@testable import Console

/// The files of the page are embedded in the program.
struct PageFilesTests {
    private static let folder = Repository.folder.appending(path: "Sources/Console/Console/Page")

    @Test func `The program contains each file of the page unchanged`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(names) == Set(PageFiles.all.keys))

        for name in names {
            let content = try Data(contentsOf: Self.folder.appending(path: name))
            let isSame = PageFiles.content(of: name) == Array(content)
            #expect(isSame, "\(name)")
        }
    }

    /// The common parts of pages are defined in one place.
    @Test func `Each page has the same head and is marked in its navigation`() async throws {
        let console = try await RunningConsole()
        for path in ["/", "/traffic", "/request", "/dead-letters"] {
            let html = try await console.get(path).body
            #expect(!html.contains("<!--"), "\(path)")
            #expect(html.components(separatedBy: "\"assets/early.js").count == 2, "\(path)")
            #expect(html.contains("\"assets/demo.js"), "\(path)")
            #expect(html.components(separatedBy: "aria-current").count == 2, "\(path)")
            let link = path == "/" ? "./" : String(path.dropFirst())
            #expect(html.contains("href=\"\(link)\" aria-current=\"page\""), "\(path)")
            #expect(html.firstMatch(of: /(?:href|src)="\//) == nil, "an address that no proxy can move: \(path)")
        }
        let login = try await console.get("/login").body
        #expect(login.contains("\"assets/base.css") && !login.contains("<header"))
    }

    @Test func `Each file is served under its type`() async throws {
        let console = try await RunningConsole()
        for path in ["/", "/traffic", "/request", "/dead-letters"] {
            #expect(try await console.get(path).headers["content-type"] == "text/html; charset=utf-8", "\(path)")
            #expect(try await console.head(path).status == 200, "\(path)")
        }
        for name in PageFiles.all.keys {
            #expect(try await console.get("/assets/\(name)").status == 200, "\(name)")
        }
    }
}
