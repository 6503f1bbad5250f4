import Foundation
import Testing

@testable import locsearch

/// Errors in a settings file name the file, the line and the cause, and nothing in it is ignored silently.
struct SettingsFileTests {
    private func refusal(name: String, text: String) throws -> String {
        let path = try SettingsFolder.write(text, as: name)
        defer { SettingsFolder.remove(path) }
        let error = #expect(throws: SettingsError.self) {
            _ = try Settings.load(flags: [:], file: path, environment: [:])
        }
        return (error?.description ?? "").replacing(path, with: "FILE")
    }

    @Test(arguments: [
        (
            "a.yml", "worker:\n\tconcurrency: 5\n",
            "the settings file FILE is not valid YAML: found character that cannot start any token on line 2, column 1, "
                + "while scanning for the next token that begins on line 2"
        ),
        (
            "a.yaml", "worker:\n  concurrency: 5\n loops: 2\n",
            "the settings file FILE is not valid YAML: did not find expected key on line 3, column 2, "
                + "while parsing a block mapping that begins on line 1"
        ),
        (
            "a.json", "{\"worker\":\n {\"concurrency\": 5\n \"loops\": 1}}",
            "the settings file FILE is not valid YAML: did not find expected ',' or '}' on line 3, column 9, "
                + "while parsing a flow mapping that begins on line 2"
        ),
        (
            "a.conf", "{} {}",
            "the settings file FILE is not valid YAML: did not find expected <document start> on line 1, column 4"
        ),
        ("a.json", "[1]", "the settings file FILE is not valid: expected one mapping of settings"),
        ("a.yaml", "- a\n", "the settings file FILE is not valid: expected one mapping of settings"),
        ("a.yaml", "", "the settings file FILE is not valid: expected one mapping of settings"),
    ])
    func `An error in a broken file names the line and the cause`(name: String, text: String, expected: String) throws {
        #expect(try refusal(name: name, text: text) == expected)
    }

    @Test(arguments: [
        (
            "a.yaml", "worker:\n  concurrency: 5\n  loops: 1\n  concurrency: 6\n",
            "concurrency is set twice in one mapping of FILE, first on line 2: keep one of them"
        ),
        (
            "a.yaml", "log:\n  level: info\n\"log\" :\n  format: text\n",
            "log is set twice in one mapping of FILE, first on line 1: keep one of them"
        ),
        (
            "a.json", "{\"worker\": {\"loops\": 1},\n\"worker\": {\"deadline\": \"1s\"}}",
            "worker is set twice in one mapping of FILE, first on line 1: keep one of them"
        ),
    ])
    func `A name that a mapping has twice is reported with its first line`(name: String, text: String, expected: String)
        throws
    {
        #expect(try refusal(name: name, text: text) == expected)
    }

    @Test(arguments: [
        (
            "a.yaml", "worker.concurrency: 7\nworker:\n  concurrency: 8\n",
            "worker.concurrency is set on line 1 and again on line 3 of FILE: keep one of them"
        ),
        (
            "a.json", "{\"worker\": {\"concurrency\": 5},\n\"worker.concurrency\": 5}",
            "worker.concurrency is set on line 1 and again on line 2 of FILE: keep one of them"
        ),
        (
            "a.yaml", "kafka.properties: debug=all\nkafka:\n  properties:\n    client.id: me\n",
            "kafka.properties is set on line 1 and again on line 4 of FILE: keep one of them"
        ),
        (
            "a.yaml", "kafka:\n  properties:\n    client.id: me\n    client: {id: you}\n",
            "kafka.properties.client.id is set on line 3 and again on line 4 of FILE: keep one of them"
        ),
    ])
    func `A setting in dotted and nested form is reported with both lines`(name: String, text: String, expected: String)
        throws
    {
        #expect(try refusal(name: name, text: text) == expected)
    }

    @Test(arguments: [
        (
            "a.yaml", "worker:\n  concurency: 1\n",
            "worker.concurency in FILE, line 2, is not a setting: did you mean worker.concurrency?"
        ),
        ("a.yml", "werker: 1\n", "werker in FILE, line 1, is not a setting; `locsearch config` lists all settings"),
        (
            "a.json", "{\"hotpepper.apiKey:geheim\": 1}",
            "hotpepper.apiKey… in FILE, line 1, is not a setting: did you mean hotpepper.apiKey?"
        ),
        (
            "a.json", "{\"hotpepper\": {\"apiKey:geheim\": 1, \"apiKey:geheim\": 2}}",
            "apiKey… is set twice in one mapping of FILE, first on line 1: keep one of them"
        ),
        (
            "a.json", "{\"worker\":\n{\"concurrency\":\"many\"}}",
            "worker.concurrency is \"many\" (FILE, line 2): expected an integer from 1 to 65536"
        ),
        (
            "a.yaml", "topics:\n  results: \"\"\n",
            "topics.results is empty (FILE, line 2): expected a topic's name: 1 to 249 letters, digits, dots, hyphens or "
                + "underscores, or leave it out for its default, location-search.results"
        ),
        (
            "a.yaml", "hotpepper:\n  apiKey:\n",
            "hotpepper.apiKey is empty (FILE, line 2): expected text, or leave it out to keep it unset"
        ),
        (
            "a.yaml", "providers:\n  order: [[hotpepper]]\n",
            "providers.order in FILE, line 2, is not a list of texts or numbers"
        ),
    ])
    func `A wrong setting is reported with its line`(name: String, text: String, expected: String) throws {
        #expect(try refusal(name: name, text: text) == expected)
    }

    @Test func `An empty section of a settings file is accepted`() throws {
        let path = try SettingsFolder.write("worker:\n  # concurrency: 5\nlog: {level: debug}\n", as: "a.yaml")
        defer { SettingsFolder.remove(path) }
        let settings = try Settings.load(flags: [:], file: path, environment: [:])
        #expect(settings.isDefault("worker.concurrency"))
        #expect(settings.values["log.level"] == .init(text: "debug", origin: .file(path, line: 3)))
    }

    @Test(arguments: ["a.yaml", "a.json"])
    func `A property with commas stays one property of a mapping`(name: String) throws {
        let path = try SettingsFolder.write(
            #"{"kafka": {"properties": {"sasl.oauthbearer.config": "scope=a,principal=b", "client.id": "me"}}}"#,
            as: name)
        defer { SettingsFolder.remove(path) }
        let settings = try Settings.load(flags: [:], file: path, environment: [:])
        #expect(settings.properties == ["sasl.oauthbearer.config": "scope=a,principal=b", "client.id": "me"])
    }

    @Test func `A settings file of nested aliases is rejected`() throws {
        var text = "a0: &a0 {x: 1, y: 2}\n"
        for level in 1...12 {
            let before = "*a\(level - 1)"
            text += "a\(level): &a\(level) {p: \(before), q: \(before), r: \(before), s: \(before)}\n"
        }
        #expect(try refusal(name: "a.yaml", text: text).contains("FILE holds more than 10000 values"))
    }
}

/// A separate folder for each settings file.
enum SettingsFolder {
    /// - Returns: the path of the file.
    static func write(_ text: String, as name: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "locsearch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    static func remove(_ path: String) {
        try? FileManager.default.removeItem(at: URL(fileURLWithPath: path).deletingLastPathComponent())
    }
}
