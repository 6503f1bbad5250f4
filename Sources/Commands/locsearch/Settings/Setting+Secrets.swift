import Foundation
import Kafka

/// Finds and hides secrets. Some settings are secrets, and others may contain one: a proxy's URL and librdkafka's
/// properties.
extension Setting {
    private static let hidden = "(hidden)"

    /// The secret settings whose value may be stored in a file, each with the setting that contains the file's path.
    static let secretFiles = [
        "googlePlaces.apiKey": "googlePlaces.apiKeyFile", "hotpepper.apiKey": "hotpepper.apiKeyFile",
        "kafka.security.sasl.password": "kafka.security.sasl.passwordFile",
        "kafka.security.oidc.clientSecret": "kafka.security.oidc.clientSecretFile",
        "admin.token": "admin.tokenFile", "console.token": "console.tokenFile",
    ]

    /// Returns a valid value for display, with each secret replaced by `(hidden)`.
    func shown(_ value: String) -> String {
        if isSecret { return Self.hidden }

        switch kind {
        case .proxy: return Self.hiding(SecretProperties.password(inURL: value), in: value)
        case .properties: return Self.shownProperties(value)
        default: return value
        }
    }

    /// Returns true if a part or all of a valid value is hidden.
    func hides(partOf value: String) -> Bool { isSecret || shown(value).contains(Self.hidden) }

    /// Returns the secrets in a valid value, in every form in which they might be logged.
    func secrets(in value: String) -> [String] {
        if isSecret, case .headers = kind {
            return [value] + (Self.headers(value) ?? [:]).filter { !Self.namesTenant($0.key) }.values
        }
        if isSecret { return [value] }

        switch kind {
        case .proxy:
            guard let range = SecretProperties.password(inURL: value) else { return [] }
            let password = String(value[range])
            let decoded = password.removingPercentEncoding
            return decoded == nil || decoded == password ? [password] : [password, decoded ?? password]
        case .properties: return SecretProperties.secrets(in: Self.properties(value) ?? [:])
        default: return []
        }
    }

    /// Returns true for headers such as `X-Scope-OrgID` and `x-honeycomb-dataset`. Their values are often words that
    /// occur in log lines and spans, where hiding them would only do damage.
    private static func namesTenant(_ header: String) -> Bool {
        let name = header.lowercased()
        return ["orgid", "organization", "tenant", "dataset", "stream"].contains(where: name.contains)
            && !["key", "token", "secret", "auth"].contains(where: name.contains)
    }

    /// Returns true if an invalid value may contain a secret. Its position is unknown, because the value cannot be
    /// parsed.
    func mayHide(_ value: String) -> Bool {
        switch kind {
        case .proxy, .properties: true
        case .url: value.contains { "?#@".contains($0) }
        default: isSecret || value.contains("@")
        }
    }

    private static func shownProperties(_ value: String) -> String {
        guard let properties = properties(value) else { return hidden }

        let holdsSecret = properties.contains { SecretProperties.hiddenPart(of: $1, property: $0) != nil }
        guard holdsSecret else { return value.replacing("\\,", with: ",") }

        return properties.sorted { $0.key < $1.key }
            .map { "\($0)=\(hiding(SecretProperties.hiddenPart(of: $1, property: $0), in: $1))" }
            .joined(separator: ",")
    }

    private static func hiding(_ range: Range<String.Index>?, in value: String) -> String {
        range.map { value.replacingCharacters(in: $0, with: hidden) } ?? value
    }
}
