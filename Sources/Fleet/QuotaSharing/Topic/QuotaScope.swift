/// The quota that a message of the fleet topic is about: the calls to one provider, by one API key, of one fleet.
///
/// A fleet is a consumer group together with its requests topic. Several fleets may share a cluster, and even a fleet topic:
/// each goes by the messages of its own scope only.
public struct QuotaScope: Sendable, Hashable {
    /// The provider's name.
    public let provider: String
    /// A digest of group and requests topic. `nil` in messages of workers that know no scopes: they mean every fleet.
    public let fleet: String?
    /// A digest of the API key, from which nothing can be learnt about the key. `nil` where every key of the fleet is meant.
    public let key: String?

    /// The scope as one text: `provider`, `provider/fleet` or `provider/fleet/key`. Kept, because accounts and limits are
    /// looked up by it at every tick.
    public let name: String

    public init(provider: String, fleet: String? = nil, key: String? = nil) {
        self.provider = provider
        self.fleet = fleet
        self.key = fleet == nil ? nil : key
        name = [provider, fleet, self.key].compactMap(\.self).joined(separator: "/")
    }

    /// Parses a `name`. Any text is one: further slashes belong to the key.
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
    /// It is about this member's fleet and keys.
    case own
    /// It is about another fleet, or about another key of this fleet.
    case foreign
    /// It comes from a worker that knows no scopes.
    case unscoped
}
