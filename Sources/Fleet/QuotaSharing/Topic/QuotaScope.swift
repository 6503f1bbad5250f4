/// The quota that a message of the fleet topic concerns: the calls to one provider, by one API key, of one fleet.
///
/// A fleet is a consumer group together with its requests topic. Several fleets may share a cluster, and even a fleet
/// topic. Each applies only the messages of its scope.
public struct QuotaScope: Sendable, Hashable {
    public let provider: String
    /// A digest of group and requests topic. `nil` in messages without scopes, which concern every fleet.
    public let fleet: String?
    /// A digest of the API key, which reveals nothing about the key. `nil` for every key of the fleet.
    public let key: String?

    /// The scope as a text: `provider`, `provider/fleet` or `provider/fleet/key`. Stored, because each tick looks up
    /// accounts and limits by it.
    public let name: String

    public init(provider: String, fleet: String? = nil, key: String? = nil) {
        self.provider = provider
        self.fleet = fleet
        self.key = fleet == nil ? nil : key
        name = [provider, fleet, self.key].compactMap(\.self).joined(separator: "/")
    }

    /// Parses a `name`. Any text is valid: further slashes belong to the key.
    public init(name: String) {
        let parts = name.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        self.init(provider: parts[0], fleet: parts.count > 1 ? parts[1] : nil, key: parts.count > 2 ? parts[2] : nil)
    }

    /// The next wider scope; `nil` for the widest.
    var wider: QuotaScope? {
        if key != nil { return QuotaScope(provider: provider, fleet: fleet) }
        return fleet != nil ? QuotaScope(provider: provider) : nil
    }
}

/// The relation of a message to the scopes of the member that reads it.
public enum ScopeRelation: String, Sendable, Hashable, CaseIterable {
    /// The message concerns this member's fleet and keys.
    case own
    /// The message concerns another fleet, or another key of this fleet.
    case foreign
    /// The message has no scope.
    case unscoped
}
