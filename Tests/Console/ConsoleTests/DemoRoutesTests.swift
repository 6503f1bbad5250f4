import Console
import HTTPServing
import Synchronization
import Testing

/// The control panel of a demo in the console, and the streets of its simulated world.
struct DemoRoutesTests {
    /// A panel with two controls.
    private final class FakePanel: DemoPanel {
        let isOn = Mutex<Set<String>>([])

        func controls() async -> [DemoControl] {
            let isOn = isOn.withLock { $0 }
            return [
                DemoControl(name: "traffic", isOn: isOn.contains("traffic"), isFault: false),
                DemoControl(name: "slow-provider", isOn: isOn.contains("slow-provider"), isFault: true),
            ]
        }

        func set(_ name: String, isOn: Bool) async throws(ConsoleError) {
            guard ["traffic", "slow-provider"].contains(name) else {
                throw ConsoleError(.notFound, "no control has this name", member: "name")
            }
            self.isOn.withLock { names in
                if isOn { names.insert(name) } else { names.remove(name) }
            }
        }

        func clearFaults() async throws(ConsoleError) { isOn.withLock { _ = $0.remove("slow-provider") } }
    }

    @Test func `A console without a demo has neither its routes nor its panel`() async throws {
        let console = try await RunningConsole()
        #expect(try await console.get("/api/demo/faults").status == 404)
        #expect(try await console.post("/api/demo/faults", #"{"name":"traffic","isOn":true}"#).status == 404)
        #expect(try await console.post("/api/demo/faults/clear", "{}").status == 404)
        #expect(try await console.get("/api/streets/7/12").status == 404)
        let config = try await console.get("/api/config").json
        #expect(config["isDemo"] == nil && config["streets"] as? Bool == false)
    }

    @Test func `A demo serves blocks of streets`() async throws {
        let console = try await RunningConsole {
            $0.streets = { row, column in row == 7 ? Array("{\"row\":\(row),\"column\":\(column)}".utf8) : nil }
        }
        let block = try await console.get("/api/streets/7/12")
        #expect(block.status == 200 && block.body == #"{"row":7,"column":12}"#)
        #expect(block.headers["cache-control"] == "private, max-age=3600")
        #expect(try await console.get("/api/config").json["streets"] as? Bool == true)
        for path in ["/api/streets/8/12", "/api/streets/7/x", "/api/streets/99999999999999999999/1"] {
            #expect(try await console.get(path).status == 404, "\(path)")
        }
    }

    @Test func `A fault stays on until all faults are cleared`() async throws {
        let panel = FakePanel()
        let console = try await RunningConsole(demo: panel)
        #expect(try await console.get("/api/config").json["isDemo"] as? Bool == true)

        let answer = try await console.post("/api/demo/faults", #"{"name":"slow-provider","isOn":true}"#)
        #expect(answer.status == 200)
        let on = #"{"name":"slow-provider","isOn":true,"isFault":true}"#
        #expect(answer.body.contains(on))
        #expect(try await console.get("/api/demo/faults").body.contains(on))

        _ = try await console.post("/api/demo/faults", #"{"name":"traffic","isOn":true}"#)
        #expect(try await console.post("/api/demo/faults/clear", "{}").status == 200)
        #expect(panel.isOn.withLock { $0 } == ["traffic"])
    }

    @Test(arguments: [
        (#"{"isOn":true}"#, 400, "name"), (#"{"name":"traffic"}"#, 400, "isOn"),
        (#"{"name":"traffic","isOn":1}"#, 400, "isOn"), ("[]", 400, "name"),
        (#"{"name":"flood","isOn":true}"#, 404, "name"),
    ])
    func `A wrong body switches nothing`(body: String, status: Int, member: String) async throws {
        let panel = FakePanel()
        let console = try await RunningConsole(demo: panel)
        let answer = try await console.post("/api/demo/faults", body)

        #expect(answer.status == status, "\(answer.body)")
        #expect((answer.json["error"] as? [String: Any])?["member"] as? String == member)
        #expect(panel.isOn.withLock { $0.isEmpty })
    }

    /// The routes have the same access rules as those that send dead letters back.
    @Test func `The panel is only for users of the console`() async throws {
        let panel = FakePanel()
        let console = try await RunningConsole(demo: panel) { $0.token = BearerToken("0123456789abcdef") }
        let body = #"{"name":"slow-provider","isOn":true}"#
        #expect(try await console.get("/api/demo/faults").status == 401)
        #expect(try await console.post("/api/demo/faults", body).status == 401)

        let token = ["Authorization": "Bearer 0123456789abcdef"]
        let form = token.merging(["Content-Type": "text/plain"]) { $1 }
        #expect(try await console.post("/api/demo/faults", body, headers: form).status == 400)
        #expect(panel.isOn.withLock { $0.isEmpty })
        #expect(try await console.post("/api/demo/faults", body, headers: token).status == 200)
    }
}
