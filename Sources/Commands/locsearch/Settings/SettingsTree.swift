import Yams

/// The values in a settings file, with the line of each name. The file is YAML or JSON, which YAML includes.
struct SettingsTree: Sendable {
    /// One value with its full name, such as `worker.concurrency`.
    struct Leaf: Sendable {
        let name: String
        let text: String
        let line: Int
    }

    /// Limits expansion: with aliases, a few lines can produce millions of values.
    private static let maxNodes = 10_000

    /// All values in file order. A section without a value, such as one with only comments, contributes none. A setting
    /// without a value has an empty text.
    private(set) var leaves: [Leaf] = []
    private let path: String
    private var nodes = 0

    /// - Throws: `SettingsError` that states file, line and cause.
    init(text: String, path: String) throws(SettingsError) {
        self.path = path
        guard case .mapping(let members)? = try Self.root(of: text, path: path) else {
            throw SettingsError("the settings file \(path) is not valid: expected one mapping of settings")
        }
        try append(members, below: "")
    }

    private mutating func append(_ members: Node.Mapping, below prefix: String) throws(SettingsError) {
        for (key, value) in members {
            let line = key.mark?.line ?? 1
            guard case .scalar(let member) = key else {
                throw SettingsError(
                    "the settings file \(path) is not valid: a name on line \(line) is not a plain text")
            }
            try countNode()

            let name = prefix + member.string
            switch value {
            case .mapping(let inner): try append(inner, below: name + ".")
            case .scalar(let scalar) where Self.isNothing(scalar):
                if !Self.isSection(name) { leaves.append(Leaf(name: name, text: "", line: line)) }
            case .scalar(let scalar): leaves.append(Leaf(name: name, text: scalar.string, line: line))
            case .sequence(let elements):
                leaves.append(Leaf(name: name, text: try list(elements, of: name, line: line), line: line))
            case .alias: continue
            }
        }
    }

    /// Returns the elements of a list, separated by commas as in a setting.
    private mutating func list(_ elements: Node.Sequence, of name: String, line: Int) throws(SettingsError) -> String {
        var texts: [String] = []
        for element in elements {
            try countNode()
            guard case .scalar(let scalar) = element, !Self.isNothing(scalar) else {
                throw SettingsError(
                    "\(SettingsError.shown(name)) in \(path), line \(line), is not a list of texts or numbers")
            }
            texts.append(scalar.string)
        }
        return texts.joined(separator: ",")
    }

    private mutating func countNode() throws(SettingsError) {
        nodes += 1
        guard nodes > Self.maxNodes else { return }
        throw SettingsError("the settings file \(path) holds more than \(Self.maxNodes) values, aliases included")
    }

    /// Returns true for YAML's forms of a missing value. A quoted text is always a text.
    private static func isNothing(_ scalar: Node.Scalar) -> Bool {
        scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    /// Returns true if the name is the prefix of a setting.
    private static func isSection(_ name: String) -> Bool {
        Setting.accepted.contains { $0.name.hasPrefix(name + ".") }
    }

    // MARK: - Mistakes

    private static func root(of text: String, path: String) throws(SettingsError) -> Node? {
        do {
            return try Yams.compose(yaml: text, .basic, .default, .utf8)
        } catch {
            throw mistake(error, text: text, path: path)
        }
    }

    private static func mistake(_ error: any Error, text: String, path: String) -> SettingsError {
        let invalid = "the settings file \(path) is not valid YAML"
        guard let error = error as? YamlError else { return SettingsError(invalid) }

        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let whole = context.map { ", \($0.text) that begins on line \($0.mark.line)" } ?? ""
            return SettingsError("\(invalid): \(problem) on line \(mark.line), column \(mark.column)\(whole)")
        case .reader(let problem, let offset, _, _):
            let line = offset.map { text.prefix($0).reduce(1) { $1.isNewline ? $0 + 1 : $0 } }
            return SettingsError("\(invalid): \(problem)" + (line.map { " on line \($0)" } ?? ""))
        case .duplicatedKeysInMapping(let names, let context):
            let name = names.first.map(SettingsError.shown) ?? "a name"
            return SettingsError(
                "\(name) is set twice in one mapping of \(path), first on line \(context.mark.line): keep one of them")
        default:
            return SettingsError(invalid)
        }
    }
}
