import LocationSearch
import SimulatedLoop

/// A provider's limit on the calls with one key in each window of time. Beyond it the provider answers 429 with `Retry-After`.
struct ProviderQuota: Sendable {
    var calls: Int
    /// The length of a window in seconds. Windows follow each other from the beginning.
    var window: Double
}

extension FleetPlan {
    /// Gives the provider a smaller quota than the workers' settings allow.
    mutating func makeQuota(_ random: inout SeededGenerator) {
        guard fullLoad == nil, random.chance(0.12) else { return }
        let window = Double(Int.random(in: 1...4, using: &random))
        quota = ProviderQuota(calls: Int(window * Double.random(in: 4...20, using: &random)), window: window)
        // Marks calls as fallible, for the rules that apply only without failures.
        failures = max(failures, 0.001)
    }
}

extension PriceClass {
    /// The price of a call in millionths of a dollar, roughly as in price lists.
    var price: Int {
        switch self {
        case .hotpepper: 0
        case .nearbySearchPro, .textSearchPro: 32_000
        default: 20_000
        }
    }
}
