internal import COpenSSL
import Kafka
import LocationSearch
import QuotaSharing
internal import WorkerRuntime

/// The quota to which each provider call of this worker counts.
///
/// Workers with the same group and request topic form a fleet. Messages in the fleet topic identify the fleet and the
/// API key by digests, so that several fleets can share a cluster, and a fleet can change keys.
struct QuotaScopes: Sendable {
    /// 40 bits: enough to distinguish all keys of a fleet, and too few to derive a key.
    private static let digestBytes = 5

    /// The digest of the group and the request topic.
    let fleet: String

    init(_ settings: Settings) throws(SettingsError) {
        self.init(group: try settings.consumer().groupID, requestsTopic: settings.topics.requests)
    }

    init(group: String, requestsTopic: String) {
        fleet = Self.digest(of: "", salt: ["fleet", group, requestsTopic])
    }

    /// Returns the scope of a provider's calls.
    /// - Parameter key: `nil` for a provider that is not configured.
    func scope(of provider: ProviderID, key: String?) -> QuotaScope {
        let name = provider.rawValue
        return QuotaScope(
            provider: name, fleet: fleet, key: key.map { Self.digest(of: $0, salt: ["key", fleet, name]) })
    }

    /// Returns the first bytes of an HMAC-SHA-256 in hexadecimal.
    /// - Parameter salt: makes digests of the same text differ, so that a key has a different digest in each fleet.
    private static func digest(of text: String, salt: [String]) -> String {
        // The names of topics and groups do not contain this byte.
        let salt = Array(salt.joined(separator: "\u{0}").utf8)
        let text = Array(text.utf8)
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        // Safe: OpenSSL keeps none of the pointers, and no digest is longer than `code`.
        let isMade = unsafe HMAC(EVP_sha256(), salt, Int32(clamping: salt.count), text, text.count, &code, nil) != nil
        precondition(isMade, "this system's OpenSSL does not support HMAC-SHA-256")
        return code.prefix(digestBytes).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count < 2 ? "0" + digits : digits
        }.joined()
    }
}
