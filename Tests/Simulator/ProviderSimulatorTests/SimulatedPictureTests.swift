import Foundation
import TestSupport
import Testing

@testable import ProviderSimulator

#if canImport(FoundationXML)
    import FoundationXML
#endif

struct SimulatedPictureTests {
    @Test func `The same path has the same picture`() async throws {
        let simulator = try await Simulator()
        let first = try await simulator.get("/pictures/P012345678_238.jpg")
        #expect(first.status == 200 && first.headers["content-type"] == "image/svg+xml")

        // The picture depends neither on the query nor on the run.
        let again = try await simulator.get("/pictures/P012345678_238.jpg?key=any")
        #expect(again.body == first.body)
        #expect(Data(Picture(path: "/pictures/P012345678_238.jpg").svg.utf8) == first.body)
    }

    @Test func `A picture shows nothing of its path`() async throws {
        let simulator = try await Simulator()
        for path in ["", "a/b/../c.jpg", "%3Cscript%3Ealert(1)%3C/script%3E", "fault:503", "\"><b>", "%FF%00"] {
            let answer = try await simulator.get("/pictures/\(path)")
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == 200, "\(path)")
            #expect(!text.contains("script") && !text.contains("503") && !text.contains("<b>"), "\(path)")
        }
    }

    @Test func `Pictures are not counted as calls of a provider`() async throws {
        let simulator = try await Simulator { $0.profile.faults = ["503": 1] }
        #expect(try await simulator.get("/pictures/x").status == 200)
        #expect(try await simulator.post("/pictures/x", [:], "{}").status == 405)
        #expect(try await simulator.stats()["requests"] as? Int == 0)
    }

    @Test func `Pictures of many paths are sound documents and differ`() throws {
        var seen: Set<String> = []
        for number in 0..<300 {
            let text = Picture(path: "/pictures/\(number).jpg").svg
            #expect(XMLParser(data: Data(text.utf8)).parse(), "\(number)")
            #expect(text.utf8.count < 8000, "\(text.utf8.count)")
            seen.insert(text)
        }
        #expect(seen.count > 250)
    }
}
