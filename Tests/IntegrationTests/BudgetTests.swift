import EventContract
import Foundation
import Kafka
import LocationSearch
import TestSupport
import Testing
import WorkerRuntime

/// A daily budget over a real broker: judged by the provider's own count, by what the worker says, and by the command.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct BudgetTests {
    private static let budget = ["PROVIDERS_HOTPEPPER_CALLS_PER_DAY": "5", "PROVIDERS_HOTPEPPER_DAY_BEGINS": noonZone]

    /// A time zone in which it is about noon, so that no day ends during the test.
    private static var noonZone: String {
        let hours = Int(Date().timeIntervalSince1970 / 3600) % 24 - 12
        return hours == 0 ? "UTC" : "Etc/GMT" + (hours > 0 ? "+" : "") + "\(hours)"
    }

    private static func requests(_ name: String, _ count: Int) -> [String] {
        (0..<count).map { WorkerHarness.request("\(name)\($0)", "hotpepper", #","keyword":"\#(name)\#($0)""#) }
    }

    /// Runs `locsearch budget` with the settings of a worker.
    private static func command(
        _ arguments: [String], in harness: WorkerHarness, _ settings: [String: String] = [:], code: Int32 = 0
    ) async throws -> String {
        let environment = harness.environment.merging(settings) { $1 }
        let program = try RunningProgram(["budget"] + arguments, environment: environment)
        defer { program.end() }
        try await eventually("the command ends", within: .seconds(30)) { !program.isRunning }
        #expect(program.code == code, "\(program.error)")
        return program.output + program.error
    }

    /// A worker's gauge of the budget.
    private static func gauge(_ name: String, in harness: WorkerHarness) async throws -> Double {
        try await harness.metric("locsearch_provider_budget_\(name){provider=\"hotpepper\"}")
    }

    @Test func requestsBeyondTheBudgetEndRateLimitedWithoutACall() async throws {
        try await WorkerHarness.run(Self.budget) { harness in
            try await harness.send(Self.requests("first", 8))
            let outcomes = try await harness.outcomes(8)
            let refused = outcomes.values.filter { $0.code == "rate-limited" }
            #expect(refused.count == 3)
            #expect(refused.allSatisfy { ($0.retryAfter ?? .zero) > .seconds(3600) && $0.attempts == 0 })
            #expect(try await harness.calls(to: "hotpepper") == 5)

            // The worker tells of its calls within a second or so.
            try await eventually("all calls are told of") { try await Self.gauge("used_calls", in: harness) == 5 }
            #expect(try await Self.gauge("calls", in: harness) == 5)
            #expect(try await Self.gauge("left_calls", in: harness) == 0)
            #expect(try await harness.get("/status").body.contains(#""breakerReason":"budget-used-up""#))
            #expect(try await harness.awaitedLogLines(with: "four fifths of the day's budget of calls are taken") == 1)
            #expect(try await Self.command([], in: harness).contains("100 %"))
        }
    }

    @Test func personRaisesTheBudgetForAllWorkersAlsoThoseThatStartLater() async throws {
        try await WorkerHarness.run(Self.budget) { harness in
            try await harness.send(Self.requests("first", 6))
            _ = try await harness.outcomes(6)
            let second = try RunningProgram(["worker"], environment: harness.environment)
            defer { second.end() }

            _ = try await Self.command(["set", "hotpepper", "7", "--yes"], in: harness)
            try await eventually("the provider is asked again") {
                try await harness.send(Self.requests("more", 1))
                return try await harness.outcomes(1)["more0"]?.places != nil
            }
            // Whoever makes it, the rest is one call.
            try await harness.send(Self.requests("last", 8))
            let last = try await harness.outcomes(8)
            #expect(last.values.count { $0.places != nil } <= 1)
            #expect(try await harness.calls(to: "hotpepper") ?? 0 <= 7)
        }
    }

    @Test func workerThatCannotReadTheTopicBeginsNoRequestUntilItCan() async throws {
        try await WorkerHarness.run(Self.budget) { harness in
            try await harness.send(Self.requests("before", 1))
            #expect(try await harness.outcomes(1)["before0"]?.places != nil)

            let notAuthorised: Int32 = 29
            harness.broker.setError(notAuthorised, ofTopic: "closed")
            let other = ["TOPICS_FLEET": "closed", "KAFKA_GROUP_ID": "other"]
            let second = try RunningProgram(["worker"], environment: harness.environment.merging(other) { $1 })
            defer { second.end() }
            try await eventually("the worker says that it waits", within: .seconds(40)) {
                second.error.contains("no request begins")
            }
            #expect(try await harness.calls(to: "hotpepper") == 1)

            harness.broker.setError(0, ofTopic: "closed")
            try await eventually("the worker runs the request", within: .seconds(40)) {
                try await harness.calls(to: "hotpepper") == 2
            }
        }
    }

    /// Both groups read the same requests, each with the budget of its own settings, over one fleet topic.
    @Test func groupsThatShareTheFleetTopicHaveABudgetEach() async throws {
        try await WorkerHarness.run(Self.budget) { harness in
            let other = ["KAFKA_GROUP_ID": "another-group"]
            let second = try RunningProgram(["worker"], environment: harness.environment.merging(other) { $1 })
            defer { second.end() }
            try await harness.send(Self.requests("each", 8))

            try await eventually("both groups use their budgets up", within: .seconds(60)) {
                try await harness.calls(to: "hotpepper") == 10
            }
            for settings in [[:], other] {
                try await eventually("all calls are told of") {
                    try await Self.command([], in: harness, settings).contains("100 %")
                }
            }
            #expect(try await harness.metric("locsearch_fleet_messages_ignored_total{reason=\"other-scope\"}") > 0)
        }
    }

    @Test func orderThatWouldBindNobodyFailsAndSaysHowManyWorkersKeepTheBudget() async throws {
        try await WorkerHarness.run(Self.budget) { harness in
            let bound = try await Self.command(["set", "hotpepper", "7", "--yes"], in: harness)
            #expect(bound.contains("1 worker keeps a daily budget of hotpepper"))

            let unbound = try await Self.command(["set", "google-places", "100", "--yes"], in: harness, code: 1)
            #expect(unbound.contains("0 workers of the group"))
            #expect(unbound.contains("providers.googlePlaces.callsPerDay"))
            let stranger = ["KAFKA_GROUP_ID": "nobody"]
            let strangers = try await Self.command(["reset", "hotpepper", "--yes"], in: harness, stranger, code: 1)
            #expect(strangers.contains("0 workers"))
            _ = try await Self.command(["set", "google-places", "100", "--yes", "--force"], in: harness)
        }
    }
}
