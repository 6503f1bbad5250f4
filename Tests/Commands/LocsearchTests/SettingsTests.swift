import Foundation
import Kafka
import LocationSearch
import Observability
import ProviderCalls
import QuotaSharing
import Resilience
import TestSupport
import Testing

@testable import locsearch

struct SettingsTests {
    private func load(
        flags: [String: String] = [:], environment: [String: String] = [:], file: (name: String, text: String)? = nil
    ) throws -> Settings {
        guard let file else { return try Settings.load(flags: flags, file: nil, environment: environment) }

        let path = try SettingsFolder.write(file.text, as: file.name)
        defer { SettingsFolder.remove(path) }
        return try Settings.load(flags: flags, file: path, environment: environment)
    }

    private func refusal(_ body: () throws -> Settings) -> String {
        do {
            _ = try body()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func `Calls are reserved only of a daily budget`() throws {
        let settings = try load(flags: [
            "providers.hotpepper.callsPerDay": "3000", "providers.hotpepper.callsPerDayReserved": "10%",
        ])
        #expect(settings.budgets == [Budget(.hotpepper, limit: 3000, reserve: .part(0.1))])
        #expect(try load().budgets.isEmpty)

        for (calls, kept, expected) in [
            ("3000", "3001", "keeps 3001 for interactive requests of hotpepper: expected at most 3,000"),
            (nil, "10%", "expected providers.hotpepper.callsPerDay to be set"),
            ("3000", "110%", "expected a number of calls, or a percentage from 0% to 100%"),
        ] {
            var flags = ["providers.hotpepper.callsPerDayReserved": kept]
            flags["providers.hotpepper.callsPerDay"] = calls
            let text = refusal { try SettingsReading(flags: flags, file: nil, environment: [:]).checked() }
            #expect(text.contains(expected), "\(text)")
        }
    }

    @Test func `Budgets are read by scope, amount, period, reserve and warning`() throws {
        let settings = try load(flags: [
            "providers.googlePlaces.budgets": "all: 300.50 USD/month, reserve 10%, warn 70%; text-search-pro: 1000/day",
            "providers.hotpepper.budgets": "all: 50000/month, reserve 500",
        ])
        let budgets = settings.budgets.filter { !$0.isAllowance }
        #expect(
            budgets.map(\.account) == [
                "google-places/month/usd", "google-places/text-search-pro", "hotpepper/month",
            ])
        #expect(budgets.map(\.limit) == [300_500_000, 1000, 50_000])
        #expect(budgets.map(\.reserve) == [.part(0.1), .units(0), .units(500)])
        #expect(budgets.map(\.warning) == [70, 80, 80])
        #expect(budgets[0].units(of: .textSearchPro) == 32_000)
        #expect(budgets[1].units(of: .textSearchPro) == 1)
        #expect(budgets[1].units(of: .nearbySearchPro) == nil)
    }

    @Test(arguments: [
        ("googlePlaces", "all", "expected budgets"), ("googlePlaces", "all: 5/week", "expected budgets"),
        ("googlePlaces", "all: 5", "expected budgets"), ("googlePlaces", "any: 5/day", "expected budgets"),
        ("googlePlaces", "all: 5/day, warn 0%", "expected budgets"),
        ("googlePlaces", "all: 5/day; all: 6/day", "has two budgets for google-places: expected one"),
        ("googlePlaces", "hotpepper: 5/day", "hotpepper is no price class of google-places: expected all or one of "),
        ("googlePlaces", "all: 5 EUR/month", "there is no price in EUR for google-places: expected a number of calls"),
        ("hotpepper", "all: 5 USD/month", "there is no price in USD for hotpepper: expected a number of calls"),
        ("googlePlaces", "all: 5 USD/month, reserve 3", "keeps 3 for interactive requests"),
    ])
    func `A wrong budget is refused with what is expected`(provider: String, text: String, expected: String) {
        let text = refusal {
            try SettingsReading(flags: ["providers.\(provider).budgets": text], file: nil, environment: [:]).checked()
        }
        #expect(text.contains(expected), "\(text)")
    }

    @Test func `Rate limits of methods are read in calls per second`() throws {
        let settings = try load(flags: ["providers.googlePlaces.methodLimits": "searchText=5,details=0.5"])
        let limits = settings.policies[.googlePlaces]?.methodLimits
        #expect(limits == [.searchText: RateLimit(perSecond: 5), .details: RateLimit(perSecond: 0.5)])
        for wrong in ["search=5", "searchText=0", "searchText", "searchText=5,searchText=6"] {
            #expect(throws: (any Error).self) {
                try load(flags: ["providers.googlePlaces.methodLimits": wrong])
            }
        }
    }

    @Test func `All wrong settings are reported`() {
        let text = refusal {
            try load(
                flags: ["worker.loops": "none"],
                environment: ["WORKER_CONCURRENCY": "many", "ADMIN_PORT": ""],
                file: ("a.yaml", "worker:\n  deadlin: 5s\n  maxAge: 3\ntopics: {reqests: a}\n"))
        }
        let lines = text.split(separator: "\n").map { $0.replacing("locsearch: ", with: "") }
        #expect(lines.count == 6, "\(text)")
        for name in [
            "worker.deadlin in ", "topics.reqests in ", "worker.loops is \"none\"", "worker.concurrency is \"many\"",
            "admin.port is empty", "worker.maxAge is \"3\"",
        ] {
            #expect(lines.contains { $0.contains(name) }, "\(name) in \(text)")
        }
    }

    @Test(arguments: [("3", "write 3s for seconds, or 3ms, 3m, 3h"), ("1.5", "write 1.5s"), ("3 s", nil), ("off", nil)])
    func `A missing unit of a duration is reported`(value: String, expected: String?) {
        let text = refusal { try load(flags: ["worker.deadline": value]) }
        #expect(text.hasPrefix("worker.deadline is \"\(value)\" (command line): expected a duration from 1ms to "))
        #expect(text.contains("the unit is missing") == (expected != nil))
        if let expected { #expect(text.contains(expected), "\(text)") }
    }

    @Test func `Every default satisfies its own rule`() throws {
        for setting in Setting.all {
            guard let value = setting.defaultValue else { continue }
            #expect(try setting.checked(value) == value, "\(setting.name)")
        }
    }

    @Test(arguments: [
        ("kafka.bootstrapServers", "KAFKA_BOOTSTRAP_SERVERS", "--kafka-bootstrap-servers"),
        ("worker.maxRequestBytes", "WORKER_MAX_REQUEST_BYTES", "--worker-max-request-bytes"),
        ("googlePlaces.baseURL", "GOOGLE_PLACES_BASE_URL", "--google-places-base-url"),
        ("hotpepper.apiKeyFile", "HOTPEPPER_API_KEY_FILE", "--hotpepper-api-key-file"),
        ("topics.deadLetters", "TOPICS_DEAD_LETTERS", "--topics-dead-letters"),
        (
            "providers.googlePlaces.requestsPerSecond", "PROVIDERS_GOOGLE_PLACES_REQUESTS_PER_SECOND",
            "--providers-google-places-requests-per-second"
        ),
        ("admin.port", "ADMIN_PORT", "--admin-port"),
    ])
    func `Names are those of the contract`(name: String, environment: String, flag: String) throws {
        let setting = try #require(Setting.byName[name])
        #expect(setting.environmentName == environment)
        #expect(setting.flagName == flag)
    }

    @Test func `Every setting is read from its variable`() throws {
        for setting in Setting.all {
            guard let value = setting.defaultValue else { continue }
            let settings = try load(environment: [setting.environmentName: value])
            #expect(settings.values[setting.name] == .init(text: value, origin: .environment(setting.environmentName)))
        }
    }

    @Test func `A provider's setting overrides that of all providers`() throws {
        let file = (
            name: "a.yaml", text: "providers: {default: {maxAttempts: 2, burst: 9}, hotpepper: {maxAttempts: 5}}"
        )
        let settings = try load(
            flags: ["providers.default.dayBegins": "UTC"],
            environment: ["PROVIDERS_GOOGLE_PLACES_BURST": "7"], file: file)
        #expect(settings["providers.hotpepper.maxAttempts"] == "5")
        #expect(settings["providers.googlePlaces.maxAttempts"] == "2")
        #expect(settings["providers.googlePlaces.burst"] == "7")
        #expect(settings["providers.googlePlacesLegacy.burst"] == "9")
        #expect(settings["providers.hotpepper.dayBegins"] == "UTC")
        #expect(try load()["providers.hotpepper.dayBegins"] == "Asia/Tokyo")
        let origin = settings.values["providers.googlePlacesLegacy.burst"]?.origin
        #expect(origin == settings.values["providers.default.burst"]?.origin)
    }

    @Test func `Flags override the environment, which overrides files and defaults`() throws {
        let file = (
            name: "a.json", text: #"{"kafka":{"groupId":"file"},"topics":{"results":"file"},"worker":{"loops":2}}"#
        )
        let settings = try load(
            flags: ["kafka.groupId": "flag"],
            environment: ["KAFKA_GROUP_ID": "environment", "TOPICS_RESULTS": "variable"],
            file: file)
        #expect(settings["kafka.groupId"] == "flag")
        #expect(settings["topics.results"] == "variable")
        #expect(settings.integer("worker.loops") == 2)
        #expect(settings.integer("worker.concurrency") == 256)
        #expect(settings.values["kafka.groupId"]?.origin == .flag)
        #expect(settings.values["topics.results"]?.origin == .environment("TOPICS_RESULTS"))
        #expect(settings.isDefault("worker.concurrency"))
    }

    static let files = [
        (
            name: "a.json",
            text:
                #"{"worker":{"concurrency":64,"maxAge":"off"},"kafka":{"properties":{"debug":"broker,topic"}},"providers":{"order":["google-places","hotpepper"]}}"#
        ),
        (
            name: "a.json",
            text:
                #"{"worker.concurrency":64,"kafka.properties":"debug=broker,topic","providers.order":"google-places, hotpepper"}"#
        ),
        (
            name: "a.yaml",
            text:
                "worker:\n  concurrency: 64\n  maxAge: off\nkafka:\n  properties:\n    debug: broker,topic\nproviders:\n  order: [google-places, hotpepper]\n"
        ),
    ]
    @Test func `A property of a mapping may end in a backslash`() throws {
        let text = "kafka:\n  properties:\n    ssl.key.password: 'abc\\'\n    client.id: me, too\n"
        let settings = try load(file: (name: "a.yaml", text: text))
        #expect(settings.properties == ["ssl.key.password": "abc\\", "client.id": "me, too"])
    }

    @Test(arguments: files) func `A settings file means the same in every form`(file: (name: String, text: String))
        throws
    {
        let settings = try load(file: file)
        #expect(settings.integer("worker.concurrency") == 64)
        #expect(settings.duration("worker.maxAge") == nil)
        #expect(settings.properties == ["debug": "broker,topic"])
        #expect(settings["providers.order"] == "google-places,hotpepper")
    }

    @Test(arguments: [
        ("worker.concurrency", "0", "an integer from 1 to 65536"), ("worker.concurrency", "ten", "an integer"),
        ("worker.concurrency", "9223372036854775807", "an integer"),
        ("worker.deadline", "9999999999999h", "a duration"),
        ("providers.hotpepper.requestsPerSecond", "nan", "a number from 0.001"),
        ("worker.concurrency", "1.5", "an integer"), ("worker.deadline", "5", "a duration from 1ms to 1m"),
        ("worker.deadline", "61s", "a duration"), ("worker.deadline", "-1s", "a duration"),
        ("worker.deadline", "off", "a duration"), ("worker.deadline", "0x5s", "a duration"),
        ("worker.deadline", "1e2ms", "a duration"), ("worker.deadline", "0.5ms", "a duration"),
        ("worker.ordering", "random", "one of unordered, key, partition"),
        ("worker.delivery", "at-most-once", "one of"),
        ("kafka.bootstrapServers", "broker", "host:port"), ("kafka.bootstrapServers", "broker:0", "host:port"),
        ("kafka.bootstrapServers", "a:1,,b:2", "host:port"), ("kafka.bootstrapServers", "a:+1", "host:port"),
        ("kafka.bootstrapServers", "a:b:1", "host:port"), ("kafka.bootstrapServers", "::1:9092", "host:port"),
        ("kafka.bootstrapServers", ":1", "host:port"), ("kafka.bootstrapServers", "a:65536", "host:port"),
        ("kafka.bootstrapServers", "ssl://a:1", "host:port"), ("kafka.bootstrapServers", "a b:1", "host:port"),
        ("kafka.properties", "nothing", "name=value"),
        ("hotpepper.baseURL", "ftp://x", "an http or https URL"), ("hotpepper.baseURL", "http://", "an http"),
        ("hotpepper.baseURL", "http://a?b", "an http"), ("hotpepper.baseURL", "http://user@a", "an http"),
        ("googlePlaces.fields", "displayName,stars", "essentials, pro, enterprise, or fields of the API"),
        ("googlePlaces.fields", "pro,enterprise", "essentials"), ("hotpepper.response", "light", "one of lite, full"),
        ("providers.order", "hotpepper,hotpepper", "some of"), ("providers.order", "yelp", "some of"),
        ("admin.port", "65536", "an integer from 0 to 65535"), ("log.format", "xml", "one of json, text"),
        ("kafka.groupId", "a\nb", "text"),
    ])
    func `A wrong value is named on one line`(name: String, value: String, expected: String) {
        let refusal = refusal { try load(flags: [name: value]) }
        #expect(refusal.hasPrefix("\(name) is "))
        #expect(refusal.contains("expected \(expected)"))
        #expect(refusal.filter(\.isNewline).count == value.filter(\.isNewline).count)
    }

    private static let topicSettings = [
        "topics.requests", "topics.results", "topics.errors", "topics.deadLetters", "topics.fleet",
    ]

    /// A worker whose topics are the same would answer its own outcomes, or read them as other workers' messages.
    @Test(arguments: topicSettings, topicSettings)
    func `A topic with two purposes is rejected on one line`(first: String, second: String) throws {
        guard first < second else { return }
        let settings = try load(flags: [first: "one", second: "one"])
        for check in [settings.validate, settings.requireSeparateTopics] {
            let error = #expect(throws: SettingsError.self) { try check() }
            let text = try #require(error.map { "\($0)" })
            #expect(text.contains("\(first) is \"one\"") || text.contains("\(second) is \"one\""), "\(text)")
            #expect(text.contains(first) && text.contains(second) && !text.contains("\n"), "\(text)")
            #expect(text.hasSuffix(": expected different topics"), "\(text)")
        }
    }

    @Test func `Every topic setting is compared with the others`() {
        #expect(Setting.all.map(\.name).filter { $0.hasPrefix("topics.") }.sorted() == Self.topicSettings.sorted())
    }

    @Test func `Google's fields are accepted as a name or a list`() throws {
        #expect(try load()["googlePlaces.fields"] == "enterprise")
        #expect(try load(flags: ["googlePlaces.fields": "essentials"])["googlePlaces.fields"] == "essentials")
        let list = (name: "a.yaml", text: "googlePlaces:\n  fields: [displayName, location]\n")
        #expect(try load(file: list)["googlePlaces.fields"] == "displayName,location")
    }

    @Test(arguments: [
        ("WORKER_CONCURENCY", "WORKER_CONCURRENCY"), ("KAFKA_BOOTSTRAP_SERVER", "KAFKA_BOOTSTRAP_SERVERS"),
        ("KAFKA_BOOSTRAP_SERVERS", "KAFKA_BOOTSTRAP_SERVERS"), ("HOTPEPPER_APIKEY", "HOTPEPPER_API_KEY"),
        ("TOPICS_RESULT", "TOPICS_RESULTS"), ("LOCSEARCH_CONFG", "LOCSEARCH_CONFIG"),
    ])
    func `A misspelt variable is warned about with the nearest name`(name: String, meant: String) throws {
        let settings = try load(environment: [name: "x"])
        #expect(settings.warnings == ["the environment variable \(name) is not a setting: did you mean \(meant)?"])
    }

    @Test(arguments: [
        "HOTPEPPER_API_KEY", "KAFKA_SECURITY_SASL_PASSWORD_FILE", "HTTP_PROXY", "KAFKA_PROPERTIES", "LOCSEARCH_CONFIG",
    ])
    func `An empty variable of an optional text is not set`(name: String) throws {
        let settings = try load(environment: [name: ""])
        #expect(settings.values.allSatisfy { $0.value.origin == .default })
    }

    /// An empty value must not select a default silently: the local broker, the default group, no limit.
    @Test(arguments: [
        "kafka.bootstrapServers", "kafka.groupId", "topics.requests", "worker.maxAge", "kafka.security.protocol",
        "kafka.security.sasl.mechanism", "providers.hotpepper.requestsPerSecond", "hotpepper.baseURL",
    ])
    func `An empty value is rejected from every source`(name: String) throws {
        let setting = try #require(Setting.byName[name])
        for empty in ["", "  "] {
            for (flags, environment, origin) in [
                ([name: empty], [:], "command line"), ([:], [setting.environmentName: empty], setting.environmentName),
            ] {
                let refusal = refusal { try load(flags: flags, environment: environment) }
                #expect(
                    refusal.hasPrefix("\(name) is empty (\(origin)): expected \(setting.expectation), or leave it out"))
            }
        }
    }

    @Test func `An empty flag is rejected even for a key`() {
        let refusal = refusal { try load(flags: ["hotpepper.apiKey": ""]) }
        #expect(refusal.hasPrefix("hotpepper.apiKey is empty (command line)"))
    }

    @Test func `A list of librdkafka properties is read`() {
        #expect(Setting.properties("fetch.wait.max.ms=10, debug=a,b") == ["fetch.wait.max.ms": "10", "debug": "a,b"])
        #expect(Setting.properties("x=a=b") == ["x": "a=b"])
        #expect(Setting.properties(#"a=b\,c=d,e=f"#) == ["a": "b,c=d", "e": "f"])
        for wrong in ["=a", "a", "a=b,,c=d", "", "a=b,a=b"] { #expect(Setting.properties(wrong) == nil, "\(wrong)") }
    }

    @Test(arguments: [("settings", Setting.markdownTables), ("metrics", MetricDescription.markdownTables)])
    func `The page has the table that the program writes`(page: String, table: String) throws {
        let root = Repository.folder
        let text = try String(contentsOf: root.appending(path: "docs/\(page).md"), encoding: .utf8)

        #expect(text.contains(table), "run `make docs`")
    }
}
