import Basics
import Testing
import WorkerRuntime

@testable import locsearch

/// The valid and invalid values of `topics.requests`.
struct RequestTopicsSettingTests {
    private func load(_ flags: [String: String]) throws -> Settings {
        try Settings.load(flags: flags, file: nil, environment: [:])
    }

    @Test(
        arguments: [
            ("a", [RequestTopic("a")]), ("a:interactive", [RequestTopic("a")]),
            ("a:batch", [RequestTopic("a", classes: [.batch])]),
            ("a:batch+interactive", [RequestTopic("a", classes: [.batch, .interactive])]),
            (
                "a, b:batch ,c.d_e-f:interactive+batch",
                [
                    RequestTopic("a"), RequestTopic("b", classes: [.batch]),
                    RequestTopic("c.d_e-f", classes: [.interactive, .batch]),
                ]
            ),
        ] as [(String, [RequestTopic])])
    func `Topics are read with their classes`(text: String, topics: [RequestTopic]) throws {
        let settings = try load(["topics.requests": text])
        #expect(settings.topics.requestTopics == topics)
        #expect(settings.topics.requests == topics[0].name, "the program's own commands write to the first")
        #expect(settings.text("topics.requests") == text.replacing(" ", with: ""))
        #expect(settings.worker().topics == settings.topics)
    }

    @Test func `The default class is the first one listed`() throws {
        let topic = try #require(try load(["topics.requests": "a:batch+interactive"]).topics.requestTopics.first)
        #expect(topic.standardClass == .batch)
        #expect(topic.classes == [.interactive, .batch])
        #expect(topic.classText == "batch+interactive")
    }

    @Test(arguments: [
        ("a b", "\"a b\" is not a topic name"), ("..", "\"..\" is not a topic name"), ("a,", "an entry has no name"),
        (",a", "an entry has no name"), (":batch", "an entry has no name"), ("a,a", "\"a\" is listed twice"),
        ("a,b:batch,a:batch", "\"a\" is listed twice"),
        ("a:urgent", "\"urgent\" is not a request class: the classes are interactive and batch"),
        ("a:Batch", "\"Batch\" is not a request class"), ("a:", "\"\" is not a request class"),
        ("a:batch+", "\"\" is not a request class"),
        ("a:batch:interactive", "\"batch:interactive\" is not a request class"),
        ("a:batch+batch", "\"a\" has the class batch twice"),
        ("a: batch", "\" batch\" is not a request class"),
    ])
    func `A mistake is named on one line`(text: String, fault: String) {
        let error = #expect(throws: SettingsError.self) { try load(["topics.requests": text]) }
        let line = error.map { "\($0)" } ?? ""
        #expect(
            line.hasPrefix("topics.requests is \"\(text)\" (command line): expected a topic's name: 1 to 249"),
            "\(line)")
        #expect(line.contains("; \(fault)"), "\(line)")
        #expect(!line.contains("\n"))
    }

    @Test(arguments: [
        ("a.yaml", "topics:\n  requests: [a, b:batch]\n"),
        ("a.yaml", "topics:\n  requests:\n    - a\n    - b:batch\n"),
        ("a.json", #"{"topics":{"requests":["a","b:batch"]}}"#),
    ])
    func `A settings file has the topics as a list`(name: String, text: String) throws {
        let path = try SettingsFolder.write(text, as: name)
        defer { SettingsFolder.remove(path) }
        let settings = try Settings.load(flags: [:], file: path, environment: [:])
        #expect(settings.topics.requestTopics == [RequestTopic("a"), RequestTopic("b", classes: [.batch])])
    }

    /// A worker would answer its own outcomes, or read other workers' fleet messages as requests.
    @Test(arguments: ["topics.results", "topics.errors", "topics.deadLetters", "topics.fleet"])
    func `A topic of requests that has another purpose too is rejected`(other: String) throws {
        let settings = try load(["topics.requests": "a,one:batch", other: "one"])
        let error = #expect(throws: SettingsError.self) { try settings.validate() }
        #expect(error.map { "\($0)" } == "\(other) is \"one\", as is topics.requests: expected different topics")
    }

    // MARK: - Limits that are shared by partitions

    private func refusal(_ flags: [String: String]) throws -> String? {
        let settings = try load(flags)
        do throws(SettingsError) {
            try settings.requireSharesWithSeveralTopics()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `Quota shares by partitions need a single topic`() throws {
        let limit = ["providers.hotpepper.requestsPerSecond": "5", "providers.hotpepper.limitMode": "by-partitions"]
        #expect(try refusal(limit) == nil)
        let several = limit.merging(["topics.requests": "a,b:batch"]) { $1 }
        let text = try #require(try refusal(several))
        #expect(
            text.contains("providers.hotpepper.limitMode is by-partitions")
                && text.contains("use providers.hotpepper.limitMode=shared, or one topic of requests"), "\(text)")
        #expect(!text.contains("\n"))
        #expect(SettingsRule.ofWorker.contains { $0.mistake(in: (try? load(several)) ?? Settings()) != nil })

        #expect(try refusal(["topics.requests": "a,b:batch", "providers.hotpepper.limitMode": "by-partitions"]) == nil)
        let ofMethods = [
            "providers.googlePlaces.methodLimits": "searchNearby=5", "topics.requests": "a,b:batch",
            "providers.googlePlaces.limitMode": "by-partitions",
        ]
        #expect(try refusal(ofMethods)?.contains("providers.googlePlaces.limitMode is by-partitions") == true)
        for mode in ["shared", "perProcess"] {
            #expect(try refusal(several.merging(["providers.hotpepper.limitMode": mode]) { $1 }) == nil)
        }
    }
}
