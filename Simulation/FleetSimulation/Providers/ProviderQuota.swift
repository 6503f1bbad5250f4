import LocationSearch
import SimulatedLoop

/// So many calls in each window of time, by all who use the key. Beyond them the provider answers 429 with `Retry-After`.
struct ProviderQuota: Sendable {
    var calls: Int
    /// Seconds. One window follows the other from the beginning on.
    var window: Double
}

extension FleetPlan {
    /// Gives the provider a quota that is smaller than what the workers may ask of it.
    mutating func makeQuota(_ random: inout SeededGenerator) {
        guard fullLoad == nil, random.chance(0.12) else { return }
        let window = Double(Int.random(in: 1...4, using: &random))
        quota = ProviderQuota(calls: Int(window * Double.random(in: 4...20, using: &random)), window: window)
        // Calls may fail from now on, which rules about calls go by.
        failures = max(failures, 0.001)
    }
}

extension PriceClass {
    /// The price of a call in millionths of a dollar, about as price lists have it.
    var price: Int {
        switch self {
        case .hotpepper: 0
        case .nearbySearchPro, .textSearchPro: 32_000
        default: 20_000
        }
    }
}
