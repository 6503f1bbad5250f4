import Testing

@testable import Console

/// Only a demo's console serves the streets of the simulated world.
struct StreetRoutesTests {
    @Test func `A demo serves blocks of streets`() async throws {
        let console = try await RunningConsole {
            $0.streets = { row, column in row == 7 ? Array("{\"row\":\(row),\"column\":\(column)}".utf8) : nil }
        }
        let block = try await console.get("/api/streets/7/12")
        #expect(block.status == 200 && block.body == #"{"row":7,"column":12}"#)
        #expect(block.headers["cache-control"] == "private, max-age=3600")
        #expect(try await console.get("/api/config").body.contains(#""streets":true"#))
        for path in ["/api/streets/8/12", "/api/streets/7/x", "/api/streets/99999999999999999999/1"] {
            #expect(try await console.get(path).status == 404, "\(path)")
        }
        await console.stop()
    }

    @Test func `Other consoles serve no streets`() async throws {
        let console = try await RunningConsole()
        #expect(try await console.get("/api/streets/7/12").status == 404)
        #expect(try await console.get("/api/config").body.contains(#""streets":false"#))
        await console.stop()
    }
}
