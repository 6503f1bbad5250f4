/// The content of a settings file, with the line of each name.
struct SettingsTree: Sendable {
    /// One value with its full name, such as `worker.concurrency`.
    struct Leaf: Sendable {
        let name: String
        let text: String
        let line: Int
    }

    private let members: [SettingsNode.Member]
    private let path: String

    /// - Parameter path: its extension selects YAML (`.yaml`, `.yml`) or JSON (any other).
    /// - Throws: `SettingsError` that states file, line and cause.
    init(text: String, path: String) throws(SettingsError) {
        self.path = path
        let isYAML = path.hasSuffix(".yaml") || path.hasSuffix(".yml")
        let root = try isYAML ? YAMLSettings.read(text, path: path) : JSONSettings.read(text, path: path)

        guard case .mapping(let members) = root else {
            throw SettingsError(
                "the settings file \(path) is not valid: expected one \(isYAML ? "YAML mapping" : "JSON object") of settings"
            )
        }
        self.members = members
    }

    /// Returns all values in file order. A section without a value, such as one with only comments, contributes none. A
    /// setting without a value becomes an empty text.
    func leaves() throws(SettingsError) -> [Leaf] {
        var leaves: [Leaf] = []
        try append(members, below: "", to: &leaves)
        return leaves
    }

    private func append(_ members: [SettingsNode.Member], below prefix: String, to leaves: inout [Leaf])
        throws(SettingsError)
    {
        var lines: [String: Int] = [:]
        for member in members {
            let name = prefix + member.name
            if let line = lines.updateValue(member.line, forKey: name) {
                throw SettingsError.setTwice(name, lines: (line, member.line), path: path)
            }

            switch member.value {
            case .mapping(let inner): try append(inner, below: name + ".", to: &leaves)
            case .nothing where Self.isSection(name): continue
            case .nothing: leaves.append(Leaf(name: name, text: "", line: member.line))
            case .text(let text): leaves.append(Leaf(name: name, text: text, line: member.line))
            case .list(let elements):
                let text = try list(elements, of: name, line: member.line)
                leaves.append(Leaf(name: name, text: text, line: member.line))
            }
        }
    }

    /// Returns the elements of a list, separated by commas as in a setting.
    private func list(_ elements: [SettingsNode], of name: String, line: Int) throws(SettingsError) -> String {
        var texts: [String] = []
        for element in elements {
            guard case .text(let text) = element else {
                throw SettingsError("\(name) in \(path), line \(line), is not a list of texts or numbers")
            }
            texts.append(text)
        }
        return texts.joined(separator: ",")
    }

    /// Returns true if the name is the prefix of a setting.
    private static func isSection(_ name: String) -> Bool {
        Setting.accepted.contains { $0.name.hasPrefix(name + ".") }
    }
}
