import Foundation
import Testing

@testable import Console

/// The files of the page are part of the program.
struct PageFilesTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/Console/Page")

    @Test func programHoldsEachFileOfThePageAsItIs() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(names) == Set(PageFiles.all.keys))

        for name in names {
            let content = try Data(contentsOf: Self.folder.appending(path: name))
            let isSame = PageFiles.content(of: name) == Array(content)
            #expect(isSame, "\(name)")
        }
    }

    @Test func eachFileIsServedUnderItsType() async throws {
        let console = try await RunningConsole()
        for path in ["/", "/traffic", "/request", "/dead-letters"] {
            #expect(try await console.get(path).headers["content-type"] == "text/html; charset=utf-8", "\(path)")
            #expect(try await console.head(path).status == 200, "\(path)")
        }
        for name in PageFiles.all.keys {
            #expect(try await console.get("/assets/\(name)").status == 200, "\(name)")
        }
        await console.stop()
    }
}
