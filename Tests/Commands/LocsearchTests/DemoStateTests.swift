import Foundation
import TestSupport
import Testing

@testable import locsearch

struct DemoStateTests {
    private func withFolder(_ body: (URL) throws -> Void) rethrows {
        let folder = FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "locsearch"))
    }

    @Test func `Tools ignore a demo that died and the next demo removes its file`() {
        withFolder { folder in
            let dead = DemoState(bootstrapServers: "127.0.0.1:9", pid: .max)
            dead.write(in: folder)
            #expect(DemoState.running(in: folder).isEmpty)

            DemoState(bootstrapServers: "127.0.0.1:8", pid: ownProcessID).write(in: folder)
            let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(files == ["demo-\(ownProcessID).json"])
        }
    }

    /// Process 1 of the system outlives this one.
    @Test func `The newest demo comes first, and the older one after its end`() {
        withFolder { folder in
            let first = DemoState(bootstrapServers: "127.0.0.1:8", pid: 1, started: 1000)
            let second = DemoState(bootstrapServers: "127.0.0.1:9", pid: ownProcessID, started: 2000)
            first.write(in: folder)
            second.write(in: folder)
            #expect(DemoState.running(in: folder) == [second, first])
            second.remove(from: folder)
            #expect(DemoState.running(in: folder) == [first])
            first.remove(from: folder)
            #expect(DemoState.running(in: folder).isEmpty)
        }
    }

    @Test func `A damaged state file is ignored`() throws {
        try withFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("{".utf8).write(to: folder.appending(path: "demo-1.json"))
            try Data("{}".utf8).write(to: folder.appending(path: "other.json"))
            #expect(DemoState.running(in: folder).isEmpty)
        }
    }

    @Test(arguments: [
        (["XDG_RUNTIME_DIR": "/run/user/1", "HOME": "/home/a"], "/run/user/1/locsearch"),
        (["HOME": "/home/a"], "/home/a/.local/state/locsearch"), (["HOME": "relative"], nil), ([:], nil),
    ])
    func `The state file is in the user's state folder`(environment: [String: String], path: String?) {
        #expect(DemoState.folder(environment)?.path == path)
    }

    /// Two demos as processes: `search` and `doctor` use the newer one, and the older one again after the newer has ended.
    @Test(.timeLimit(.minutes(3))) func `Tools find the first demo again after the second ended`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "demos-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let environment = ["XDG_RUNTIME_DIR": folder]

        func startDemo() async throws -> (program: RunningProgram, broker: String) {
            let demo = try await RunningProgram.demo(environment: environment)
            return (demo, String(try #require(try demo.line("broker ").split(separator: " ").dropFirst().first)))
        }
        func search() async throws -> RunningProgram {
            try await RunningProgram.run(
                ["search", "--lat", "35.69", "--lng", "139.7", "--timeout", "40s"], environment: environment)
        }

        let first = try await startDemo()
        defer { first.program.end() }
        let second = try await startDemo()
        defer { second.program.end() }

        let both = try await search()
        #expect(both.code == 0, "\(both.error)")
        #expect(both.error.contains("using the newest demo's broker at \(second.broker); "), "\(both.error)")
        #expect(both.error.contains(first.broker), "\(both.error)")

        try await second.program.terminate()
        let one = try await search()
        #expect(one.code == 0, "\(one.error)")
        #expect(one.error.contains("using the demo's broker at \(first.broker)\n"), "\(one.error)")

        let doctor = try await RunningProgram.run(["doctor", "--yes"], environment: environment)
        #expect(doctor.code == 0, "\(doctor.output)\(doctor.error)")
        #expect(doctor.output.contains("\(first.broker): connected without a login"), "\(doctor.output)")
        #expect(doctor.output.contains("hotpepper accepts the key"), "\(doctor.output)")
    }

    /// A key from the environment, meant for other workers, is not sent to the demo's providers, nor the demo's key to others.
    @Test func `Tools use the demo's providers and keys`() {
        var demo = DemoState(bootstrapServers: "127.0.0.1:9", pid: 1)
        demo.providerURL = "http://127.0.0.1:7"
        let settings = demo.workerSettings
        #expect(settings["kafka.bootstrapServers"] == "127.0.0.1:9")
        for provider in ["hotpepper", "googlePlaces", "googlePlacesLegacy"] {
            #expect(settings["\(provider).baseURL"] == "http://127.0.0.1:7")
        }
        #expect(settings["hotpepper.apiKey"] == DemoState.key && settings["googlePlaces.apiKey"] == DemoState.key)
    }
}
