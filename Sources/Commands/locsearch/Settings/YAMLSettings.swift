import Yams

/// Reads a settings file in YAML.
struct YAMLSettings {
    /// Limits expansion: with aliases, a few lines can produce millions of values.
    private static let maxNodes = 10_000

    private let path: String
    private var nodes = 0

    private init(path: String) { self.path = path }

    /// - Throws: `SettingsError` that states file, line and cause.
    static func read(_ text: String, path: String) throws(SettingsError) -> SettingsNode {
        do {
            guard let root = try Yams.compose(yaml: text, .basic, .default, .utf8) else { return .nothing }

            var settings = YAMLSettings(path: path)
            return try settings.node(root)
        } catch let error as SettingsError {
            throw error
        } catch {
            throw mistake(error, text: text, path: path)
        }
    }

    private mutating func node(_ node: Node) throws(SettingsError) -> SettingsNode {
        nodes += 1
        guard nodes <= Self.maxNodes else {
            throw SettingsError("the settings file \(path) holds more than \(Self.maxNodes) values, aliases included")
        }

        switch node {
        case .scalar(let scalar): return Self.isNothing(scalar) ? .nothing : .text(scalar.string)
        case .sequence(let sequence):
            var elements: [SettingsNode] = []
            for element in sequence { elements.append(try self.node(element)) }
            return .list(elements)
        case .mapping(let mapping):
            var members: [SettingsNode.Member] = []
            for (key, value) in mapping { members.append(try member(key, value)) }
            return .mapping(members)
        case .alias: return .nothing
        }
    }

    private mutating func member(_ key: Node, _ value: Node) throws(SettingsError) -> SettingsNode.Member {
        let line = key.mark?.line ?? 1
        guard case .scalar(let name) = key else {
            throw SettingsError("the settings file \(path) is not valid: a name on line \(line) is not a plain text")
        }

        return SettingsNode.Member(name: name.string, line: line, value: try node(value))
    }

    /// Returns true for YAML's forms of a missing value. A quoted text is always a text.
    private static func isNothing(_ scalar: Node.Scalar) -> Bool {
        scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    // MARK: - Mistakes

    private static func mistake(_ error: any Error, text: String, path: String) -> SettingsError {
        guard let error = error as? YamlError else {
            return SettingsError("the settings file \(path) is not valid YAML")
        }

        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let whole = context.map { ", \($0.text) that begins on line \($0.mark.line)" } ?? ""
            return SettingsError(
                "the settings file \(path) is not valid YAML: \(problem) on line \(mark.line), column \(mark.column)"
                    + whole)
        case .reader(let problem, let offset, _, _):
            let line = offset.map { text.prefix($0).reduce(1) { $1.isNewline ? $0 + 1 : $0 } }
            return SettingsError(
                "the settings file \(path) is not valid YAML: \(problem)" + (line.map { " on line \($0)" } ?? ""))
        case .duplicatedKeysInMapping(let names, let context):
            let first = context.mark
            let second = secondLine(of: names.first ?? "", after: first, in: text)
            return SettingsError.setTwice(
                names.first ?? "a name", lines: (first.line, second ?? first.line), path: path)
        default:
            return SettingsError("the settings file \(path) is not valid YAML")
        }
    }

    /// Returns the line on which a mapping repeats a name: a later line, in the same column.
    ///
    /// The parser reports only the first occurrence. A mapping on one line (`{a: 1, a: 2}`) has no second line.
    private static func secondLine(of name: String, after first: Mark, in text: String) -> Int? {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() where index >= first.line {
            let key = line.drop { $0 == " " }
            guard line.count - key.count == first.column - 1 else { continue }

            let unquoted = key.drop { "\"'".contains($0) }
            let rest = unquoted.dropFirst(name.count).drop { "\"' ".contains($0) }
            if unquoted.hasPrefix(name), rest.first == ":" { return index + 1 }
        }
        return nil
    }
}
