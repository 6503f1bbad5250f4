import Foundation
import Kafka

/// Secrets stand in settings of their own, and within others: in a proxy's URL, among librdkafka's properties.
extension Setting {
    private static let hidden = "(hidden)"

    /// A valid value as it may be shown.
    func shown(_ value: String) -> String {
        if isSecret { return Self.hidden }
        switch kind {
        case .proxy:
            guard let password = Self.password(inProxy: value) else { return value }
            return value.replacingCharacters(in: password, with: Self.hidden)
        case .properties:
            guard let properties = Self.properties(value) else { return Self.hidden }
            guard properties.keys.contains(where: KafkaSecurity.isSecret(property:)) else { return value }
            return properties.sorted { $0.key < $1.key }
                .map { "\($0.key)=\(KafkaSecurity.isSecret(property: $0.key) ? Self.hidden : $0.value)" }
                .joined(separator: ",")
        default: return value
        }
    }

    /// The secrets in a valid value.
    func secrets(in value: String) -> [String] {
        if isSecret { return [value] }
        switch kind {
        case .proxy: return Self.password(inProxy: value).map { [String(value[$0])] } ?? []
        case .properties:
            return (Self.properties(value) ?? [:]).filter { KafkaSecurity.isSecret(property: $0.key) }.map(\.value)
        default: return []
        }
    }

    /// Whether a value that does not fit may hold a secret: where it would stand cannot be told then.
    func mayHide(_ value: String) -> Bool {
        switch kind {
        case .proxy, .properties: true
        case .url: value.contains { "?#@".contains($0) }
        default: isSecret
        }
    }

    /// What stands between the name and the last `@`; without a colon it may be a token, so all that stands there.
    private static func password(inProxy url: String) -> Range<String.Index>? {
        guard let end = url.lastIndex(of: "@") else { return nil }
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        guard start < end else { return nil }
        return (url[start..<end].firstIndex(of: ":").map(url.index(after:)) ?? start)..<end
    }
}
