import Foundation

/// A settings file in YAML, or in JSON, which YAML includes.
///
/// Names are nested (`worker: {concurrency: 64}`) or written out (`worker.concurrency: 64`). One file may use both
/// forms, but not for the same setting. `kafka.properties` may be a text or a mapping. Every mistake is reported with
/// its line.
struct SettingsFile: Sendable {
    /// A setting's value as text, and the line of its name, starting at 1.
    struct Entry: Sendable, Hashable {
        let text: String
        let line: Int
    }

    let path: String
    /// The values by setting name. All librdkafka properties form one entry, `kafka.properties`.
    private(set) var entries: [String: Entry] = [:]
    /// An error for each unknown name.
    private(set) var unknownNames: [SettingsError] = []

    private static let propertiesName = "kafka.properties"
    private static let maxBytes = 1 << 20

    /// - Throws: `SettingsError` if the file cannot be read, or for the first mistake in it other than an unknown name.
    init(path: String) throws(SettingsError) {
        self.path = path
        let leaves = try SettingsTree(text: Self.text(at: path), path: path).leaves

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

    /// Returns why a file that the settings name cannot be read, as `PATH cannot be read: reason`; `nil` if it can.
    static func problem(at path: String) -> String? {
        let files = FileManager.default
        let isFolder = (try? files.contentsOfDirectory(atPath: path)) != nil
        if !isFolder, files.isReadableFile(atPath: path) { return nil }

        var reason = isFolder ? ": it is a directory" : ""
        do {
            if !isFolder { _ = try Data(contentsOf: URL(fileURLWithPath: path)) }
        } catch CocoaError.fileReadNoSuchFile {
            reason = ": it does not exist"
        } catch CocoaError.fileReadNoPermission {
            reason = ": this user may not read it"
        } catch {}
        return "\(path) cannot be read\(reason)"
    }

    /// Reads the file, which may have at most 1 MB.
    static func text(at path: String) throws(SettingsError) -> String {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw SettingsError("the settings file \(problem(at: path) ?? "\(path) cannot be read")")
        }
        guard data.count <= maxBytes else { throw SettingsError("the settings file \(path) is larger than 1 MB") }
        guard let text = String(data: data, encoding: .utf8) else {
            throw SettingsError("the settings file \(path) is not UTF-8 text")
        }

        return text
    }

    /// Returns the librdkafka property in a name below `kafka.properties`; `nil` for any other name.
    private static func property(_ name: String) -> String? {
        guard name.hasPrefix(propertiesName + "."), name.count > propertiesName.count + 1 else { return nil }

        return String(name.dropFirst(propertiesName.count + 1))
    }

    /// Joins the properties of a mapping to one entry. Commas in their values are escaped, because commas separate
    /// properties. A final backslash gets a space after it, so that it does not escape the separator. Parsing removes the space.
    private mutating func addProperties(_ properties: [(name: String, entry: Entry)]) throws(SettingsError) {
        guard let first = properties.first else { return }
        if let text = entries[Self.propertiesName] {
            throw SettingsError.setTwice(Self.propertiesName, lines: (text.line, first.entry.line), path: path)
        }

        let text = properties.map { name, entry in
            "\(name)=\(entry.text.replacing(",", with: "\\,"))" + (entry.text.hasSuffix("\\") ? " " : "")
        }.joined(separator: ",")
        entries[Self.propertiesName] = Entry(text: text, line: first.entry.line)
    }
}

extension SettingsError {
    /// - Parameter origin: the location of the name, such as `on the command line`.
    static func unknown(_ name: String, _ origin: String) -> SettingsError {
        let meant = Misspelling.meant(by: namePart(of: name), among: Setting.accepted.map(\.name))
        return SettingsError(
            "\(shown(name)) \(origin) is not a setting"
                + (meant.map { ": did you mean \($0)?" } ?? "; `locsearch config` lists all settings"))
    }

    /// - Parameter lines: the lines of the two values, in any order.
    static func setTwice(_ name: String, lines: (Int, Int), path: String) -> SettingsError {
        let (first, second) = (min(lines.0, lines.1), max(lines.0, lines.1))
        let places = first == second ? "twice on line \(first)" : "on line \(first) and again on line \(second)"
        return SettingsError("\(shown(name)) is set \(places) of \(path): keep one of them")
    }

    /// Returns a name for an error message. An ellipsis hides the rest of a text such as `apiKey:SECRET`.
    static func shown(_ name: String) -> String { namePart(of: name) == name ? name : namePart(of: name) + "…" }

    /// Returns the start of a text that can be the name of a setting.
    static func namePart(of text: String) -> String {
        String(text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) })
    }
}
