import Foundation
import Kafka
import LocationSearch
import TestSupport
import Testing

@testable import locsearch

/// Set-ups with faults that are found without a connection. A worker finds them before it starts.
struct DoctorSettingsTests {
    private static func wrong(
        _ name: String, _ settings: [String: String], _ text: String, check: String = "settings", cure: String? = nil
    ) -> WrongSetUp {
        WrongSetUp(testDescription: name, settings: settings, check: check, text: text, cure: cure, code: 78)
    }

    static let setUps: [WrongSetUp] = [
        wrong("a time without its unit", ["worker.deadline": "5"], "worker.deadline is \"5\""),
        wrong("a number out of range", ["worker.loops": "80"], "expected an integer from 1 to 64"),
        wrong(
            "more loops than requests", ["worker.loops": "8", "worker.concurrency": "4"], "at most worker.concurrency"),
        wrong(
            "a default above the most", ["worker.deadline": "20s", "worker.maxDeadline": "10s"],
            "at most worker.maxDeadline"
        ),
        wrong("two topics of one name", ["topics.results": "x", "topics.errors": "x"], "expected different topics"),
        wrong(
            "a CA file that is not there", ["http.caFile": "/nowhere.pem"],
            "/nowhere.pem cannot be read: it does not exist"),
        wrong(
            "a CA file that is a directory", ["http.caFile": "/"], "http.caFile: / cannot be read: it is a directory"),
        wrong(
            "a certificate that is a directory",
            ["kafka.security.protocol": "ssl", "kafka.security.caFile": "/"],
            "kafka.security.caFile: / cannot be read: it is a directory"),
        wrong(
            "a key file that is a directory", ["hotpepper.apiKey": "", "hotpepper.apiKeyFile": "/"],
            "hotpepper.apiKeyFile: / cannot be read: it is a directory"),
        wrong("a key with a line feed", ["hotpepper.apiKey": "ab\ncd"], "it contains a line feed: remove it"),
        wrong("a key that is set twice", ["hotpepper.apiKeyFile": "/b"], "are both set: use one of them"),
        wrong(
            "a key file that is not there", ["hotpepper.apiKey": "", "hotpepper.apiKeyFile": "/nowhere"],
            "hotpepper.apiKeyFile: /nowhere cannot be read: it does not exist"),
        wrong("no key at all", ["hotpepper.apiKey": ""], "no provider has an API key"),
        wrong(
            "a provider first that has no key", ["providers.order": "google-places"], "list a provider that has a key"),
        wrong(
            "a login without its protocol", ["kafka.security.sasl.mechanism": "PLAIN"],
            "kafka.security.protocol is not set, although kafka.security.sasl.mechanism is set"),
        wrong(
            "a login without a user",
            ["kafka.security.protocol": "sasl_ssl", "kafka.security.sasl.mechanism": "PLAIN"],
            "kafka.security.sasl.username is not set"),
        wrong("a token that is easy to guess", ["admin.token": "short"], "at least 16 are needed"),
        wrong(
            "a protocol of the group that is set twice",
            ["kafka.groupProtocol": "classic", "kafka.properties": "group.protocol=classic"],
            "are both set: use one of them"),
        wrong(
            "a property that librdkafka does not know", ["kafka.properties": "socket.timeout=5"],
            "kafka.properties: socket.timeout is not accepted", check: "library", cure: "correct the setting"),
        wrong(
            "a property that the guarantees rest on", ["kafka.properties": "acks=1"],
            "kafka.properties must not set acks", check: "library", cure: "remove it"),
        wrong(
            "an admin address of no machine", ["admin.host": "nowhere.invalid"],
            "cannot listen on nowhere.invalid:0", check: "port", cure: "choose another"),
    ]

    @Test(arguments: setUps) func `A wrong set-up is found before a worker starts`(_ wrong: WrongSetUp) async {
        let report = await DoctorFixture.report(wrong.settings, checks: DoctorChecks.ofStart)
        DoctorFixture.expect(report, finds: wrong)
        #expect(report.failure?.code == 78)
    }

    @Test(.enabled(if: LibraryVersion.running < LibraryVersion(2, 12), "this librdkafka can do it"))
    func `A group protocol that the library lacks is found`() async {
        let wrong = Self.wrong(
            "KIP-848 with an old library", ["kafka.groupProtocol": "consumer"], "needs librdkafka 2.12.0 or newer",
            check: "library", cure: "correct the setting")
        DoctorFixture.expect(await DoctorFixture.report(wrong.settings, checks: DoctorChecks.ofStart), finds: wrong)
    }

    @Test func `Doctor warns about cooperative-sticky with librdkafka before 2.10`() async {
        let settings = ["kafka.properties": "partition.assignment.strategy=cooperative-sticky"]
        let report = await DoctorFixture.report(settings, checks: DoctorChecks.ofStart)
        let warnings = report.findings.filter { $0.state == .warning && $0.check == "library" }
        guard LibraryVersion.running < LibraryVersion(2, 10) else { return #expect(warnings.isEmpty) }
        #expect(warnings.map { $0.text.contains("costs a worker its partitions") } == [true])
        #expect(warnings.first?.cure?.contains("librdkafka 2.10 or newer") == true)
    }

    @Test func `Google's terms are reported to users of its keys`() async {
        let key = ["googlePlaces.apiKey": "a-good-key-4711"]
        func findings(_ settings: [String: String]) async -> [Finding] {
            await DoctorFixture.report(settings, checks: [TermsCheck()]).findings
        }
        #expect(await findings([:]).map(\.state) == [.skipped])

        let usual = await findings(key)
        #expect(usual.map(\.state) == [.ok, .ok])
        #expect(usual.first?.text.contains("from October 2026") == true)
        #expect(usual.last?.text.contains("set console.terms=eea") == true)

        let area = await findings(key.merging(["console.terms": "eea"]) { $1 })
        #expect(area.last?.text.contains("only ids and positions") == true)

        let legacy = await findings(key.merging(["providers.order": "google-places-legacy"]) { $1 })
        #expect(legacy.first?.state == .warning)
        #expect(legacy.first?.cure?.contains("list google-places instead") == true)
    }

    private static let google = ["googlePlaces.apiKey": "a-good-key-4711", "hotpepper.apiKey": ""]

    private func findings(_ check: any DoctorCheck, _ settings: [String: String]) async -> [Finding] {
        await DoctorFixture.report(Self.google.merging(settings) { $1 }, checks: [check]).findings
    }

    /// A quota counts calls a minute, a setting calls a second. The smaller of two limits counts.
    @Test(
        arguments: [
            ([:], "searchText 600, and no limit is set"),
            (["requestsPerSecond": "10"], nil),
            (["requestsPerSecond": "10.1"], "photo 600, and the limit is 606"),
            (["requestsPerSecond": "10.1", "methodLimits": "searchNearby=1,searchText=10,details=1,photo=1"], nil),
            (
                ["methodLimits": "searchNearby=1,searchText=20,details=1,photo=1"],
                ": searchText 600, and the limit is 1,200"
            ),
        ] as [([String: String], String?)])
    func `Limits above Google's quotas are a warning`(settings: [String: String], text: String?) async {
        let named = Dictionary(uniqueKeysWithValues: settings.map { ("providers.googlePlaces.\($0.key)", $0.value) })
        let found = await findings(QuotasCheck(), named)
        #expect(found.map(\.state) == [text == nil ? .ok : .warning, .ok], "\(found)")
        let expected = text ?? "the limits are within the default quotas of google-places"
        #expect(found.first?.text.contains(expected) == true, "\(found)")
        #expect(found.first?.text.contains(PriceList.Quota.google.date) == true)
    }

    @Test func `A quota of the price file replaces Google's`() async throws {
        let text = try String(contentsOf: Repository.folder.appending(path: "ops/prices.json"), encoding: .utf8)
        let path = try SettingsFolder.write(text.replacing(": 600", with: ": 3000"), as: "prices.json")
        defer { SettingsFolder.remove(path) }
        let limit = ["providers.googlePlaces.requestsPerSecond": "50"]
        #expect(await findings(QuotasCheck(), limit).first?.state == .warning)
        #expect(await findings(QuotasCheck(), limit.merging(["prices.file": path]) { $1 }).first?.state == .ok)
    }

    /// 1,000 calls a day are 31,000 in a month, 30,000 of which cost 0.035 dollars.
    @Test(
        arguments: [
            ("all: 1000/day", [("google-places: 1,000 calls a day until 20", true, "1,050.00 USD a month")]),
            ("text-search-pro: 5000/month", [("google-places/text-search-pro/month: 5,000 calls a month", false, nil)]),
            ("text-search-pro: 6000/month", [("6,000 calls a month until", false, "up to about 32.00 USD a month")]),
            (
                "all: 300 USD/month; all: 1000/day",
                [("google-places/month/usd: 300.00 USD a month", false, nil), ("1,000 calls", false, "1,050.00 USD")]
            ),
            (
                "text-search-pro: 9 USD/month; all: 1000/day",
                [("text-search-pro/month/usd: 9.00 USD", false, nil), ("1,000 calls", true, "1,050.00 USD")]
            ),
        ] as [(String, [(text: String, isWarning: Bool, cost: String?)])])
    func `Each account is reported with its most cost`(
        budgets: String, expected: [(text: String, isWarning: Bool, cost: String?)]
    ) async {
        let found = await findings(BudgetsCheck(), ["providers.googlePlaces.budgets": budgets])
        #expect(found.map(\.state) == expected.map { $0.isWarning ? .warning : .ok }, "\(found)")
        for (finding, expected) in zip(found, expected) {
            #expect(finding.text.contains(expected.text), "\(finding)")
            #expect(finding.text.contains(", which cost up to about ") == (expected.cost != nil), "\(finding)")
            #expect(finding.text.contains(expected.cost ?? " until 20"), "\(finding)")
        }
    }

    @Test func `A sound set-up passes`() async {
        let report = await DoctorFixture.report([:], checks: DoctorChecks.ofStart)
        #expect(report.findings.allSatisfy { $0.state == .ok } && report.findings.count == 4, "\(report.findings)")
        #expect(report.exitCode() == 0 && report.failure == nil)
    }

    /// One run reports wrong values and contradictions. Checks that depend on wrong values are skipped.
    @Test func `All mistakes are reported at once`() async {
        let report = await DoctorFixture.report(
            [
                "worker.deadline": "5", "worker.loops": "8", "worker.concurrency": "4", "topics.results": "x",
                "topics.errors": "x", "http.caFile": "/nowhere.pem", "admin.port": "99999",
            ], checks: DoctorChecks.ofStart)

        let failures = report.findings.filter { $0.state == .failed }.map(\.text)
        #expect(failures.count == 5, "\(failures)")
        for text in ["worker.deadline", "admin.port", "worker.loops", "topics.errors", "http.caFile"] {
            #expect(failures.contains { $0.hasPrefix(text) || $0.contains(" \(text) ") }, "\(text) in \(failures)")
        }
        #expect(report.findings.contains { $0.check == "port" && $0.state == .skipped })
    }

    @Test(arguments: [("missing.yaml", nil), ("broken.yaml", "worker: {"), ("unknown.yaml", "worker: {deadlin: 5s}")])
    func `A settings file that cannot be read is found`(name: String, content: String?) async throws {
        let path = try content.map { try SettingsFolder.write($0, as: name) } ?? "/nowhere/\(name)"
        defer { if content != nil { SettingsFolder.remove(path) } }

        let report = await DoctorFixture.report(["hotpepper.apiKey": ""], file: path)
        let wrong = Self.wrong(name, [:], path)
        DoctorFixture.expect(report, finds: wrong)
        // The unknown setting may be any setting, so no connection is made to a possibly wrong address.
        let isKnown = content?.contains("deadlin") == true
        #expect(report.findings.contains { $0.check == "connection" && $0.state == .skipped } == !isKnown)
    }

    @Test(arguments: [("0123\n", true), (" 0123 \r\n\n", true), ("01\n23", false), ("01\n23\n", false)])
    func `A line feed may end a key file, but not be within the key`(content: String, isValid: Bool) async throws {
        let path = try SettingsFolder.write(content, as: "key")
        defer { SettingsFolder.remove(path) }
        let report = await DoctorFixture.report(
            ["hotpepper.apiKey": "", "hotpepper.apiKeyFile": path], checks: [SettingsCheck()])
        #expect((report.count(.failed) == 0) == isValid, "\(report.findings)")
        let names = report.findings.contains { $0.text.contains("has a line feed or another control character within") }
        #expect(names != isValid)
    }

    @Test(.enabled(if: geteuid() != 0, "root may read every file"))
    func `A file that this user may not read is named with that reason`() throws {
        let path = try SettingsFolder.write("0123", as: "key")
        defer { SettingsFolder.remove(path) }
        #expect(SettingsFile.problem(at: path) == nil)
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
        #expect(SettingsFile.problem(at: path) == "\(path) cannot be read: this user may not read it")
    }

    @Test func `A taken port is found, and a running worker on it is a warning`() async throws {
        let (other, worker) = (
            try RawServer { $0.send("HTTP/1.1 404 Not Found\r\n\r\n") },
            try RawServer { connection in
                _ = connection.readRequest()
                connection.send("HTTP/1.1 200 OK\r\n\r\nok\n")
            }
        )
        defer { for server in [other, worker] { server.stop() } }
        let wrong = Self.wrong("a taken port", [:], "Address already in use", check: "port", cure: "0 for any free one")

        for checks in [DoctorChecks.ofStart, [PortCheck(isStart: false)]] {
            let report = await DoctorFixture.report(["admin.port": "\(other.port)"], checks: checks)
            DoctorFixture.expect(report, finds: wrong)
        }
        let beside = await DoctorFixture.report(["admin.port": "\(worker.port)"], checks: [PortCheck(isStart: false)])
        #expect(beside.findings.map(\.state) == [.warning], "\(beside.findings)")
        let start = await DoctorFixture.report(["admin.port": "\(worker.port)"], checks: DoctorChecks.ofStart)
        #expect(start.exitCode() == 78)
    }

    @Test func `An address that this machine lacks is found`() throws {
        #expect(try NetworkAddress.resolve("192.0.2.1", port: 0).map(\.isMissing) == [true])
        #expect(try NetworkAddress.resolve("127.0.0.1", port: 0).map(\.isMissing) == [false])
    }

    @Test func `A set-up that works but is unsafe is a warning`() async {
        let wrong = WrongSetUp(
            testDescription: "an open admin port", settings: ["admin.host": "0.0.0.0"], check: "port", state: .warning,
            text: "anyone who can reach the admin port can read", cure: "set admin.token")
        let report = await DoctorFixture.report(wrong.settings, checks: DoctorChecks.ofStart)
        DoctorFixture.expect(report, finds: wrong)
        #expect(report.exitCode() == 0 && report.exitCode(isStrict: true) == 1)
    }

    @Test func `A low limit of open files is found`() async {
        let wrong = WrongSetUp(
            testDescription: "few files", settings: ["worker.concurrency": "1000"], check: "files", state: .warning,
            text: "the limit is 256 open files, but with worker.concurrency=1000 up to 1160 are needed",
            cure: "raise the hard limit")
        DoctorFixture.expect(await DoctorFixture.report(wrong.settings, checks: [FilesCheck(limit: 256)]), finds: wrong)
        let enough = await DoctorFixture.report(wrong.settings, checks: [FilesCheck(limit: 1160)])
        #expect(enough.findings.map(\.state) == [.ok])
        let few = await DoctorFixture.report(wrong.settings, checks: [FilesCheck(limit: 40)])
        #expect(few.failure?.description.contains("raise the hard limit (ulimit -Hn, LimitNOFILE= of systemd)") == true)
    }
}
