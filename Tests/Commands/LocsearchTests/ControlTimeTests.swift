import ArgumentParser
import Foundation
import QuotaSharing
import Testing

@testable import locsearch

/// The parsing of the end of an order.
struct ControlTimeTests {
    /// 2026-11-25, 15:30 in Tokyo.
    private let now = Date(timeIntervalSince1970: 1_795_588_200)
    private let tokyo = TimeZone(identifier: "Asia/Tokyo") ?? .gmt

    @Test(arguments: [
        ("18:00", 9000), ("15:31", 60), ("15:30", 86_400), ("00:00", 30_600), ("2026-11-25T16:30:00+09:00", 3600),
        ("2026-11-25T07:30:00Z", 3600),
    ])
    func `An order ends when the clock next shows the given time`(text: String, seconds: Int64) throws {
        #expect(try ControlTime.end(text, at: now, in: tokyo) == 1_795_588_200_000 + seconds * 1000)
    }

    @Test(arguments: ["", "18", "18:60", "24:00", "6pm", "8:5", "18:00:00", "2026-11-25T06:00:00Z", "+1:00"])
    func `A wrong time is rejected`(text: String) {
        #expect(throws: ValidationError.self) { try ControlTime.end(text, at: now, in: tokyo) }
    }

    @Test func `A duration counts from now`() throws {
        #expect(try ControlTime.end(after: .seconds(1800), at: now) == 1_795_590_000_000)
        #expect(throws: ValidationError.self) { try ControlTime.end(after: .milliseconds(999), at: now) }
    }

    @Test func `The end by --until does not change while the user confirms`() throws {
        let options = try ControlEnd.parse(["--until", "18:00"])
        let begin: Int64 = 1_795_588_200_000
        let last = try #require(try options.milliseconds(at: begin))
        let end = try options.fixed(at: begin)
        #expect(try end(last - 1) == last)
        #expect(throws: Failure.self) { try end(last + 5000) }
    }

    @Test func `The end by --for counts from the confirmation`() throws {
        let end = try ControlEnd.parse(["--for", "30m"]).fixed(at: 0)
        #expect(try end(5000) == 1_805_000)
    }

    // MARK: - Selection of a worker

    private let workers = [
        ControlTopic.Worker(name: "web-1", instance: "a1"), ControlTopic.Worker(name: "web-2", instance: "b2"),
        ControlTopic.Worker(name: "web-2", instance: "c3"),
    ]

    @Test func `A worker is found by its host name or its instance id`() throws {
        #expect(try ControlChange.worker("web-1", among: workers).instance == "a1")
        #expect(try ControlChange.worker("c3", among: workers).name == "web-2")
    }

    @Test(arguments: [("web-2", "b2, c3"), ("web-9", "running workers: web-1, web-2")])
    func `A name that is not exactly one worker's is rejected`(name: String, words: String) {
        #expect { try ControlChange.worker(name, among: workers) } throws: { "\($0)".contains(words) }
    }

    // MARK: - Texts

    @Test func `An order has a readable sentence`() {
        var order = ControlOrder(.rate, provider: "hotpepper", number: 12.5, by: "mori@ops", at: 0)
        order.isForced = true
        #expect(
            order.sentence
                == "rate of hotpepper is 12.5 per second (forced) for the fleet, by mori@ops until it is withdrawn")
        (order.instance, order.worker) = ("a1", "web-1")
        #expect(order.sentence.contains("for web-1 (a1)"))
        #expect(!ControlReport(ControlBook([order])).json.contains("isTakenBack"))
        order.isTakenBack = true
        #expect(ControlReport(ControlBook([order])).json.contains(#""isTakenBack":true"#))
    }
}
