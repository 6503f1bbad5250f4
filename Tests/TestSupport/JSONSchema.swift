import Foundation

/// A JSON value that distinguishes booleans from numbers.
package enum JSONValue: Decodable, Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let items = try? container.decode([JSONValue].self) {
            self = .array(items)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    fileprivate subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    fileprivate var number: Double? { if case .number(let number) = self { number } else { nil } }
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
    fileprivate var items: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    fileprivate var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
}

/// One of the schemas in `schemas/`, for tests that check many values as they are made.
///
/// It supports the keywords that those schemas use; any other keyword is reported as a fault, so that none is overlooked.
package struct JSONSchema: Sendable {
    private let root: JSONValue

    /// - Parameter name: the name of the file in `schemas/`, without `.schema.json`.
    package init(_ name: String) throws {
        let file = Repository.folder.appending(path: "schemas/\(name).schema.json")
        root = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: file))
    }

    /// Returns the faults of a text, each with its path.
    package func faults(of bytes: [UInt8]) throws -> [String] {
        faults(of: try JSONDecoder().decode(JSONValue.self, from: Data(bytes)), by: root, at: "$")
    }

    private func faults(of value: JSONValue, by schema: JSONValue, at place: String) -> [String] {
        guard let rules = schema.members else { return ["\(place): a schema that is no object"] }

        var faults: [String] = []
        for (keyword, rule) in rules {
            switch keyword {
            case "title", "description", "$schema", "$id", "$defs", "format", "then", "else": break
            case "$ref": faults += self.faults(of: value, by: definition(rule), at: place)
            case "allOf": for part in rule.items ?? [] { faults += self.faults(of: value, by: part, at: place) }
            case "not":
                if self.faults(of: value, by: rule, at: place).isEmpty { faults.append("\(place): must not be there") }
            case "if":
                let branch = self.faults(of: value, by: rule, at: place).isEmpty ? rules["then"] : rules["else"]
                if let branch { faults += self.faults(of: value, by: branch, at: place) }
            case "properties":
                for (name, part) in rule.members ?? [:] {
                    if let member = value[name] { faults += self.faults(of: member, by: part, at: "\(place).\(name)") }
                }
            case "items":
                for (index, item) in (value.items ?? []).enumerated() {
                    faults += self.faults(of: item, by: rule, at: "\(place)[\(index)]")
                }
            default:
                if !isKept(keyword, rule, by: value, rules) { faults.append("\(place): \(keyword) of \(value)") }
            }
        }
        return faults
    }

    private func definition(_ reference: JSONValue) -> JSONValue {
        let name = reference.text?.split(separator: "/").last.map(String.init) ?? ""
        return root["$defs"]?[name] ?? .null
    }

    /// Returns true if a value satisfies a rule. A rule about another kind of value is always satisfied.
    private func isKept(
        _ keyword: String, _ rule: JSONValue, by value: JSONValue, _ rules: [String: JSONValue]
    ) -> Bool {
        switch keyword {
        case "type": Self.isType(rule.text, of: value)
        case "enum": rule.items?.contains(value) ?? false
        case "const": rule == value
        case "minimum": value.number.map { $0 >= rule.number ?? .nan } ?? true
        case "maximum": value.number.map { $0 <= rule.number ?? .nan } ?? true
        case "exclusiveMinimum": value.number.map { $0 > rule.number ?? .nan } ?? true
        case "minLength": value.text.map { Double($0.unicodeScalars.count) >= rule.number ?? .nan } ?? true
        case "maxLength": value.text.map { Double($0.unicodeScalars.count) <= rule.number ?? .nan } ?? true
        case "pattern": value.text.map { $0.range(of: rule.text ?? "(", options: .regularExpression) != nil } ?? true
        case "minItems": value.items.map { Double($0.count) >= rule.number ?? .nan } ?? true
        case "maxItems": value.items.map { Double($0.count) <= rule.number ?? .nan } ?? true
        case "required":
            value.members.map { members in
                (rule.items ?? []).allSatisfy { $0.text.map { members[$0] != nil } ?? false }
            } ?? true
        case "additionalProperties":
            rule == .bool(false)
                && (value.members.map { Set($0.keys).isSubset(of: Set((rules["properties"]?.members ?? [:]).keys)) }
                    ?? true)
        default: false
        }
    }

    private static func isType(_ type: String?, of value: JSONValue) -> Bool {
        switch (type, value) {
        case ("object", .object), ("array", .array), ("string", .string), ("boolean", .bool), ("number", .number): true
        case ("integer", .number(let number)): number == number.rounded()
        default: false
        }
    }
}
