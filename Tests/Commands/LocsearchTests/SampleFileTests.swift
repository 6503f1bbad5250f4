import Foundation
import TestSupport
import Testing

@testable import locsearch

/// `ops/worker.yaml` is the sample that users copy: it names all settings, with their actual defaults.
///
/// A setting with a default is written as it is. A setting without one is a comment that only has to be uncommented.
struct SampleFileTests {
    static let sample = Repository.folder.appending(path: "ops/worker.yaml")

    @Test func `The sample names and keeps every default`() throws {
        let settings = try Settings.load(flags: [:], file: Self.sample.path, environment: [:])
        try settings.validate()
        let entries = try SettingsFile(path: Self.sample.path).entries

        for setting in Setting.all {
            #expect(settings[setting.name] == setting.defaultValue, "\(setting.name) in ops/worker.yaml")
            let isMissing = entries[setting.name] == nil && setting.defaultValue != nil
            #expect(!isMissing, "add \(setting.name) with its default to ops/worker.yaml")
        }
    }

    @Test func `Every setting without a default is a comment to uncomment`() throws {
        let uncommented = try SettingsFolder.write(try Self.uncommented(), as: "worker.yaml")
        defer { SettingsFolder.remove(uncommented) }
        let entries = try SettingsFile(path: uncommented).entries

        for setting in Setting.all {
            #expect(entries[setting.name] != nil, "add \(setting.name) as a comment to ops/worker.yaml")
        }
        _ = try Settings.load(flags: [:], file: uncommented, environment: [:])
    }

    /// Returns the sample with its settings uncommented. These comments have the form `# name: value` or `# name:`, where the name is
    /// one word in lower case. Other comments stay.
    private static func uncommented() throws -> String {
        try String(contentsOf: sample, encoding: .utf8).replacing(#/(?m)^( *)# ( *[a-z][A-Za-z.]*:( [^ ]+)?)$/#) {
            "\($0.1)\($0.2)"
        }
    }
}
