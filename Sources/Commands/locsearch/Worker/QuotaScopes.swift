internal import COpenSSL
import Kafka
import LocationSearch
import QuotaSharing
internal import WorkerRuntime

/// Whose quota the calls of a worker with these settings count for.
///
/// Workers of one group and requests topic are a fleet; what they say in the fleet's topic names the fleet and the API key by
/// digests, so that several fleets can share a cluster, and one fleet can change keys.
struct QuotaScopes: Sendable {
    /// 40 bits: no two keys of a fleet are taken for one, and no key follows from so few.
    private static let digestBytes = 5

    /// The digest of group and requests topic.
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

    /// Returns the hexadecimal start of an HMAC-SHA-256.
    /// - Parameter salt: tells digests of one text from each other, so that a key's digest in one fleet is not recognised in
    ///   another.
    private static func digest(of text: String, salt: [String]) -> String {
        // Topics and groups hold no such byte.
        let salt = Array(salt.joined(separator: "\u{0}").utf8)
        let text = Array(text.utf8)
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        // Safe: OpenSSL keeps none of the pointers, and no digest is longer than `code`.
        let isMade = unsafe HMAC(EVP_sha256(), salt, Int32(clamping: salt.count), text, text.count, &code, nil) != nil
        precondition(isMade, "this system's OpenSSL makes no HMAC-SHA-256")
        return code.prefix(digestBytes).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count < 2 ? "0" + digits : digits
        }.joined()
    }
}
