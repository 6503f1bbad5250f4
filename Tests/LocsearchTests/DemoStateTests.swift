import Foundation
import Testing

@testable import locsearch

struct DemoStateTests {
    private func withLocation(_ body: (URL) throws -> Void) rethrows {
        let folder = FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "locsearch/demo.json"))
    }

    @Test func toolsFindARunningDemo() {
        withLocation { location in
            let state = DemoState(bootstrapServers: "127.0.0.1:9", pid: ownProcessID)
            state.write(to: location)
            #expect(DemoState.running(at: location) == state)
            state.remove(from: location)
            #expect(DemoState.running(at: location) == nil)
        }
    }

    @Test func toolsIgnoreADemoThatDied() {
        withLocation { location in
            DemoState(bootstrapServers: "127.0.0.1:9", pid: .max).write(to: location)
            #expect(DemoState.running(at: location) == nil)
        }
    }

    @Test func endingDemoLeavesAnotherDemosFile() {
        withLocation { location in
            let other = DemoState(bootstrapServers: "127.0.0.1:8", pid: ownProcessID)
            other.write(to: location)
            DemoState(bootstrapServers: "127.0.0.1:9", pid: ownProcessID).remove(from: location)
            #expect(DemoState.running(at: location) == other)
        }
    }

    @Test(arguments: [
        (["XDG_RUNTIME_DIR": "/run/user/1", "HOME": "/home/a"], "/run/user/1/locsearch/demo.json"),
        (["HOME": "/home/a"], "/home/a/.local/state/locsearch/demo.json"), (["HOME": "relative"], nil), ([:], nil),
    ])
    func itLiesWhereTheUsersStateLies(environment: [String: String], path: String?) {
        #expect(DemoState.location(environment)?.path == path)
    }
}
