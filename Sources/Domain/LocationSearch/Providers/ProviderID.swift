/// An API that places come from. Raw values are contract: they appear in events, metrics and logs.
public enum ProviderID: String, CaseIterable, Sendable, Hashable {
    /// Google's Places API (New).
    case googlePlaces = "google-places"
    /// Google's older Places API, the legacy web service.
    case googlePlacesLegacy = "google-places-legacy"
    /// Recruit's Hot Pepper Gourmet.
    case hotpepper
}

/// The provider that a request chooses.
public enum ProviderChoice: Sendable, Hashable {
    /// The first configured provider that can serve the request, see `ProviderSelection`.
    case auto
    /// Exactly this provider.
    case named(ProviderID)

    /// - Parameter text: `provider` of a request event; `nil` if it is not a value of the contract.
    public init?(_ text: String) {
        if text == "auto" {
            self = .auto
        } else if let id = ProviderID(rawValue: text) {
            self = .named(id)
        } else {
            return nil
        }
    }

    /// The provider that the request names; `nil` for `auto`.
    public var named: ProviderID? {
        switch self {
        case .auto: nil
        case .named(let id): id
        }
    }
}
