internal import Basics

/// The calls of a day's budget that are kept for interactive requests: `providers.<name>.callsPerDayReserved`.
public enum BudgetReserve: Sendable, Hashable {
    /// A number of calls.
    case calls(Int)
    /// A fraction of the budget, 0 to 1.
    case part(Double)

    /// Parses a number of calls, or a percentage such as `10%`.
    /// - Returns: `nil` for any other text, and for a number out of range.
    public init?(text: String) {
        if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()), (0...100).contains(percent) else { return nil }
            self = .part(percent / 100)
        } else {
            guard let calls = Int(text), calls >= 0 else { return nil }
            self = .calls(calls)
        }
    }

    /// True if no calls are kept.
    public var isNone: Bool { self == .calls(0) || self == .part(0) }

    /// Returns the number of calls that are kept of a budget, at most the whole budget.
    public func calls(of budget: Int) -> Int {
        switch self {
        case .calls(let calls): min(max(0, calls), max(0, budget))
        case .part(let part): min(max(0, Int(saturating: (part * Double(budget)).rounded(.up))), max(0, budget))
        }
    }
}
