import Foundation
import TestSupport
import Testing

/// The origin of third-party parts.
struct SupplyChainTests {
    private static let root = Repository.folder

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test(arguments: [
        "schemas/requirements.txt", "ops/experiments/requirements.txt", "ops/grafana/requirements.txt",
        "Tests/Browser/requirements.txt", "Tests/Browser/requirements-axe.txt",
    ])
    func `Every Python package is pinned to one version`(path: String) throws {
        let packages = try Self.text(path).split(separator: "\n").filter { !$0.hasPrefix("#") }

        #expect(!packages.isEmpty)
        for package in packages {
            #expect(
                package.wholeMatch(of: /[A-Za-z0-9._-]+(\[[a-z,]+\])?==[0-9][0-9A-Za-z.]*( *#.*)?/) != nil, "\(package)"
            )
        }
    }

    @Test func `Every Swift package comes from its project over HTTPS`() throws {
        let owners = ["apple", "hummingbird-project", "jpsim", "swift-server"]
        let urls = try Self.text("Package.swift").matches(of: /\.package\(url: "([^"]+)"/).map { String($0.1) }

        #expect(!urls.isEmpty)
        for url in urls {
            #expect(owners.contains { url.hasPrefix("https://github.com/\($0)/") }, "\(url)")
        }
        #expect(try !Self.text("Package.swift").contains("branch:"), "a branch changes without a new version")
    }
}
