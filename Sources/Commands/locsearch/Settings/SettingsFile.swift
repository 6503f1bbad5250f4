import Foundation

/// A settings file: YAML or JSON, by its ending.
///
/// Names are nested (`worker: {concurrency: 64}`) or written out (`worker.concurrency: 64`); both forms may stand in one
/// file, but not for one setting. `kafka.properties` may be one text or a mapping. Every mistake is told with the line
/// that it stands on.
struct SettingsFile: Sendable {
    /// A setting's value as text, and the line on which its name stands, from 1.
    struct Entry: Sendable, Hashable {
        let text: String
        let line: Int
    }

    let path: String
    /// The values by the names of their settings. Librdkafka's properties are one entry, as `kafka.properties`.
    private(set) var entries: [String: Entry] = [:]
    /// A refusal for each name that is no setting.
    private(set) var unknownNames: [SettingsError] = []

    private static let propertiesName = "kafka.properties"
    private static let maxBytes = 1 << 20

    /// - Throws: `SettingsError` when the file cannot be read, or for the first mistake in it that is no unknown name.
    init(path: String) throws(SettingsError) {
        self.path = path
        let leaves = try SettingsTree(text: Self.text(at: path), path: path).leaves()

        var properties: [(name: String, entry: Entry)] = []
        var lines: [String: Int] = [:]
        for leaf in leaves {
            if let line = lines.updateValue(leaf.line, forKey: leaf.name) {
                throw SettingsError.setTwice(leaf.name, lines: (line, leaf.line), path: path)
            }

            let entry = Entry(text: leaf.text, line: leaf.line)
            if let property = Self.property(leaf.name) {
                properties.append((property, entry))
            } else if Setting.byName[leaf.name] != nil {
                entries[leaf.name] = entry
            } else {
                unknownNames.append(.unknown(leaf.name, "in \(path), line \(leaf.line),"))
            }
        }

        try addProperties(properties)
    }

    /// Returns the text of a file of at most 1 MB.
    private static func text(at path: String) throws(SettingsError) -> String {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw SettingsError("the settings file \(path) cannot be read")
        }
        guard data.count <= maxBytes else { throw SettingsError("the settings file \(path) is larger than 1 MB") }
        guard let text = String(data: data, encoding: .utf8) else {
            throw SettingsError("the settings file \(path) is not UTF-8 text")
        }

        return text
    }

    /// Returns the name of librdkafka's property that stands below `kafka.properties`; `nil` for any other name.
    private static func property(_ name: String) -> String? {
        guard name.hasPrefix(propertiesName + "."), name.count > propertiesName.count + 1 else { return nil }

        return String(name.dropFirst(propertiesName.count + 1))
    }

    /// Makes one entry of the properties of a mapping. Commas within their values are escaped, as they separate
    /// properties otherwise.
    private mutating func addProperties(_ properties: [(name: String, entry: Entry)]) throws(SettingsError) {
        guard let first = properties.first else { return }
        if let text = entries[Self.propertiesName] {
            throw SettingsError.setTwice(Self.propertiesName, lines: (text.line, first.entry.line), path: path)
        }

        let text = properties.map { "\($0.name)=\($0.entry.text.replacing(",", with: "\\,"))" }.joined(separator: ",")
        entries[Self.propertiesName] = Entry(text: text, line: first.entry.line)
    }
}

extension SettingsError {
    /// - Parameter origin: the place of the name, such as `on the command line`.
    static func unknown(_ name: String, _ origin: String) -> SettingsError {
        let meant = Misspelling.meant(by: name, among: Setting.all.map(\.name))
        return SettingsError(
            "\(name) \(origin) is no setting"
                + (meant.map { ": did you mean \($0)?" } ?? "; `locsearch config` lists all there are"))
    }

    /// - Parameter lines: where the two values stand, in any order.
    static func setTwice(_ name: String, lines: (Int, Int), path: String) -> SettingsError {
        let (first, second) = (min(lines.0, lines.1), max(lines.0, lines.1))
        let places = first == second ? "twice on line \(first)" : "on line \(first) and again on line \(second)"
        return SettingsError("\(name) is set \(places) of \(path): keep one of them")
    }
}
