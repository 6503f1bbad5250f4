import EventContract
import Foundation
import Kafka
import LocationSearch
import QuotaSharing
import TestSupport
import Testing
import WorkerRuntime

/// A daily budget with a real broker, checked by the provider's count, the worker's reports, and the command.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct BudgetTests {
    private static let budget = ["PROVIDERS_HOTPEPPER_CALLS_PER_DAY": "5", "PROVIDERS_HOTPEPPER_DAY_BEGINS": noonZone]

    /// A time zone in which it is about noon, so that no day ends during the test.
    private static var noonZone: String {
        let hours = Int(Date().timeIntervalSince1970 / 3600) % 24 - 12
        return hours == 0 ? "UTC" : "Etc/GMT" + (hours > 0 ? "+" : "") + "\(hours)"
    }

    /// Runs `locsearch budget` with the settings of a worker.
    private static func command(
        _ arguments: [String], in harness: WorkerHarness, _ settings: [String: String] = [:], code: Int32 = 0
    ) async throws -> String {
        try await harness.command(["budget"] + arguments, settings, code: code)
    }

    /// Returns the value of a worker's gauge of the budget.
    private static func gauge(_ name: String, in harness: WorkerHarness) async throws -> Double {
        try await harness.metric(
            "locsearch_provider_budget\(name){provider=\"hotpepper\",account=\"hotpepper\",unit=\"calls\"}")
    }

    @Test func `Requests beyond the budget end as rate-limited without a call`() async throws {
        try await WorkerHarness.run(Self.budget) { harness in
            try await harness.send(WorkerHarness.requests("first", 8))
            let outcomes = try await harness.outcomes(8)
            let refused = outcomes.values.filter { $0.code == "rate-limited" }
            #expect(refused.count == 3)
            #expect(refused.allSatisfy { ($0.retryAfter ?? .zero) > .seconds(3600) && $0.attempts == 0 })
            #expect(try await harness.calls(to: "hotpepper") == 5)

            // The worker reports its calls within about a second.
            try await eventually("all calls are told of") { try await Self.gauge("_used", in: harness) == 5 }
            #expect(try await Self.gauge("", in: harness) == 5)
            #expect(try await Self.gauge("_left", in: harness) == 0)
            #expect(try await harness.get("/status").body.contains(#""breakerReason":"budget-used-up""#))
            #expect(try await harness.awaitedLogLines(with: "80 % of a budget is used") == 1)
            #expect(try await Self.command([], in: harness).contains("100 %"))
        }
    }

    @Test func `An operator raises the budget for all workers and for those that start later`() async throws {
        try await WorkerHarness.run(Self.budget) { harness in
            try await harness.send(WorkerHarness.requests("first", 6))
            _ = try await harness.outcomes(6)
            let second = try RunningProgram(["worker"], environment: harness.environment)
            defer { second.end() }

            _ = try await Self.command(["set", "hotpepper", "7", "--yes"], in: harness)
            try await eventually("the provider is asked again") {
                try await harness.send(WorkerHarness.requests("more", 1))
                return try await harness.outcomes(1, of: "more")["more0"]?.places != nil
            }
            // Whichever worker makes it, one call is left.
            try await harness.send(WorkerHarness.requests("last", 8))
            let last = try await harness.outcomes(8, of: "last")
            #expect(last.values.count { $0.places != nil } <= 1)
            #expect(try await harness.calls(to: "hotpepper") ?? 0 <= 7)
        }
    }

    @Test func `A worker begins no request until it can read the fleet topic`() async throws {
        try await WorkerHarness.run(Self.budget) { harness in
            try await harness.send(WorkerHarness.requests("before", 1))
            #expect(try await harness.outcomes(1)["before0"]?.places != nil)

            let notAuthorised: Int32 = 29
            harness.broker.setError(notAuthorised, ofTopic: "closed")
            let other = ["TOPICS_FLEET": "closed", "KAFKA_GROUP_ID": "other"]
            let second = try RunningProgram(["worker"], environment: harness.environment.merging(other) { $1 })
            defer { second.end() }
            try await eventually("the worker says that it waits", within: .seconds(40)) {
                second.error.contains("intake is paused")
            }
            #expect(try await harness.calls(to: "hotpepper") == 1)

            harness.broker.setError(0, ofTopic: "closed")
            try await eventually("the worker runs the request", within: .seconds(40)) {
                try await harness.calls(to: "hotpepper") == 2
            }
        }
    }

    /// Both groups read the same requests and share one fleet topic, each with the budget of its own settings.
    @Test func `Groups that share the fleet topic have separate budgets`() async throws {
        try await WorkerHarness.run(Self.budget) { harness in
            let other = ["KAFKA_GROUP_ID": "another-group"]
            let second = try RunningProgram(["worker"], environment: harness.environment.merging(other) { $1 })
            defer { second.end() }
            try await harness.send(WorkerHarness.requests("each", 8))

            try await eventually("both groups use their budgets up", within: .seconds(60)) {
                try await harness.calls(to: "hotpepper") == 10
            }
            for settings in [[:], other] {
                try await eventually("all calls are told of") {
                    try await Self.command([], in: harness, settings).contains("100 %")
                }
            }
        }
    }

    @Test func `An order for no worker fails and names the number of workers with a budget`() async throws {
        try await WorkerHarness.run(Self.budget) { harness in
            let bound = try await Self.command(["set", "hotpepper", "7", "--yes"], in: harness)
            #expect(bound.contains("1 worker has the budget hotpepper"))

            let unbound = try await Self.command(["set", "google-places", "100", "--yes"], in: harness, code: 1)
            #expect(unbound.contains("0 workers of the group"))
            #expect(unbound.contains("providers.<name>.budgets"))
            let stranger = ["KAFKA_GROUP_ID": "nobody"]
            let strangers = try await Self.command(["reset", "hotpepper", "--yes"], in: harness, stranger, code: 1)
            #expect(strangers.contains("0 workers"))
            _ = try await Self.command(["set", "google-places", "100", "--yes", "--force"], in: harness)
        }
    }

    /// The emergency stop. Other groups and their orders share the topic.
    @Test func `A budget of zero stops all calls although other groups share the topic`() async throws {
        try await WorkerHarness.run(["PROVIDERS_HOTPEPPER_CALLS_PER_DAY": "100"].merging(Self.zone) { $1 }) { harness in
            for number in 0..<200 {
                try await harness.writeToFleetTopic(
                    Self.foreignMessages(number), as: FleetCodec(fleet: "group \(number)"))
            }
            try await harness.send(WorkerHarness.requests("before", 1))
            #expect(try await harness.outcomes(1)["before0"]?.places != nil)

            let stopped = try await Self.command(["set", "hotpepper", "0", "--yes"], in: harness, Self.zone)
            #expect(stopped.contains("hotpepper"))
            try await harness.send(WorkerHarness.requests("after", 5))
            #expect(try await harness.outcomes(5).values.allSatisfy { $0.code == "rate-limited" })
            #expect(try await harness.calls(to: "hotpepper") == 1)
            #expect(try await Self.gauge("_left", in: harness) == 0)
        }
    }

    private static let zone = ["PROVIDERS_HOTPEPPER_DAY_BEGINS": noonZone]

    /// Returns the messages of a group with calls of this day and the next ones, and an operator's order for it.
    private static func foreignMessages(_ number: Int) -> [BudgetMessage] {
        let day = String(Date().formatted(.iso8601).prefix(10))
        let entry = BudgetMessage.Entry("hotpepper", period: day, limit: 5, take: 5)
        let order = BudgetMessage.Order("hotpepper", period: day, limit: 1, time: day)
        return [
            BudgetMessage(sender: "worker \(number)", number: 1, entries: [entry]),
            BudgetMessage(sender: "person \(number)", number: 1, order: order),
        ]
    }

    /// Its day differs from the workers', so they would ignore the order.
    @Test func `An order for another day than the workers' is reported as failed`() async throws {
        try await WorkerHarness.run(Self.budget) { harness in
            // More than a day behind the workers' time zone, in which it is noon.
            let hours = Int(try #require(TimeZone(identifier: Self.noonZone)).secondsFromGMT() / 3600)
            let other = hours > 0 ? "Etc/GMT+12" : "Etc/GMT-14"
            let failed = try await Self.command(
                ["set", "hotpepper", "7", "--yes"], in: harness, ["PROVIDERS_HOTPEPPER_DAY_BEGINS": other], code: 1)
            #expect(failed.contains("0 of 1 workers have acknowledged the order for "))
            #expect(try await Self.gauge("", in: harness) == 5)
        }
    }

    /// The operator confirms after midnight.
    @Test func `An order applies to the day on which it is confirmed`() async throws {
        let midnight = (Int(Date().timeIntervalSince1970) + 90) / 60 * 60
        let minutes = (1440 - midnight / 60 % 1440) % 1440
        let (sign, offset) = minutes <= 720 ? ("+", minutes) : ("-", 1440 - minutes)
        let digits = "\(10_000 + offset / 60 * 100 + offset % 60)".dropFirst()
        let zone = ["PROVIDERS_HOTPEPPER_DAY_BEGINS": "GMT\(sign)\(digits)"]

        try await WorkerHarness.run(Self.budget.merging(zone) { $1 }) { harness in
            let environment = harness.environment
            let script = """
                (while [ $(date +%s) -lt \(midnight + 1) ]; do sleep 0.2; done; echo y) | \
                '\(RunningProgram.location.path)' budget set hotpepper 7
                """
            let program = try RunningProgram(["-c", script], environment: environment, at: "/bin/sh")
            defer { program.end() }
            try await eventually("the command ends", within: .seconds(120)) { !program.isRunning }
            #expect(program.code == 0, "\(program.error)")
            #expect(Int(Date().timeIntervalSince1970) > midnight, "the answer came after midnight")
            try await eventually("the new day has the budget") { try await Self.gauge("", in: harness) == 7 }
        }
    }

    @Test func `The command fails if no worker acknowledges the order`() async throws {
        try await WorkerHarness.run(Self.budget) { harness in
            harness.worker.signal(SIGTERM)
            try await eventually("the worker ends") { !harness.worker.isRunning }
            let failed = try await Self.command(["set", "hotpepper", "0", "--yes"], in: harness, code: 1)
            #expect(failed.contains("0 workers of the group"))
        }
    }
}
