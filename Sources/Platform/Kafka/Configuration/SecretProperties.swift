/// Finds the secrets among librdkafka's properties.
///
/// Properties are matched by words in their names, not by a list of known names. librdkafka adds properties with every
/// release, and unknown secrets must not be shown either. A matching value is hidden even if it is harmless, such as
/// the path of a file.
public enum SecretProperties {
    /// A property whose name contains one of these words is secret. Underscores and hyphens count as dots.
    private static let words = [
        "password", "passphrase", "passwd", "secret", "token", "jaas", "assertion", "credential", "private.key",
        "key.pem", "api.key", "apikey", "access.key", "oauthbearer.config", "kinit.cmd",
    ]

    /// Property names that are secret only as a whole: `ssl_key` is a key, while `ssl.key.location` is the path of one.
    private static let names: Set<String> = ["ssl.key"]

    /// Names that match a secret word although their values are numbers, flags or algorithms. Their values are hidden,
    /// but not searched for in log lines: replacing every `300` or `true` would make the lines unreadable.
    private static let namesOfPlainValues: Set<String> = [
        "sasl.oauthbearer.assertion.algorithm", "sasl.oauthbearer.assertion.claim.exp.seconds",
        "sasl.oauthbearer.assertion.claim.jti.include", "sasl.oauthbearer.assertion.claim.nbf.seconds",
    ]

    /// Returns whether the value of the property must not be shown. Ignores case.
    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased().replacing("_", with: ".").replacing("-", with: ".")
        return names.contains(name) || words.contains { name.contains($0) }
    }

    /// Returns the part of a property's value that must not be shown: all of it, or the password within a URL.
    public static func hiddenPart(of value: String, property name: String) -> Range<String.Index>? {
        if isSecret(name) { return value.startIndex..<value.endIndex }

        return value.contains("://") ? password(inURL: value) : nil
    }

    /// Returns the values, and parts of values, that must be removed from log lines and error texts.
    public static func secrets(in properties: [String: String]) -> [String] {
        properties.compactMap { name, value in
            if namesOfPlainValues.contains(name) { return nil }

            return hiddenPart(of: value, property: name).map { String(value[$0]) }
        }
    }

    /// Returns `text` with each of `secrets` replaced, the longest first, so that a secret within another leaves no
    /// remainder.
    static func hide(_ secrets: [String], in text: String) -> String {
        secrets.sorted { $0.count > $1.count }.reduce(text) { text, secret in
            secret.isEmpty ? text : text.replacing(secret, with: "[hidden]")
        }
    }

    /// Returns the range of the password in a URL: after the colon, up to the last `@`.
    ///
    /// Without a colon, all text before the `@` may be a token, and counts as the password. The scheme may be missing,
    /// as in the address of a proxy.
    public static func password(inURL url: String) -> Range<String.Index>? {
        guard let end = url.lastIndex(of: "@") else { return nil }
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        guard start < end else { return nil }

        let colon = url[start..<end].firstIndex(of: ":")
        return (colon.map { url.index(after: $0) } ?? start)..<end
    }
}
