import Foundation

/// Which invented schedules the simulations of fleets run, as the environment says.
enum Schedules {
    /// The seeds of the schedules: as many as `LOCSEARCH_FLEET_SCHEDULES` says, from `LOCSEARCH_FLEET_SEED` on.
    /// - Parameter count: how many there are where the environment says nothing.
    static func seeds(unlessSet count: UInt64) -> Range<UInt64> {
        let first: UInt64 = number("LOCSEARCH_FLEET_SEED", unlessSet: 1)
        return first..<first + number("LOCSEARCH_FLEET_SCHEDULES", unlessSet: count)
    }

    /// How many members a large fleet has: as many as `LOCSEARCH_FLEET_MEMBERS` says.
    /// - Parameter count: how many there are where the environment says nothing.
    static func members(unlessSet count: Int) -> Int { number("LOCSEARCH_FLEET_MEMBERS", unlessSet: count) }

    /// What a person sets to run one schedule again.
    static func again(_ seed: UInt64) -> String {
        "LOCSEARCH_FLEET_SEED=\(seed) LOCSEARCH_FLEET_SCHEDULES=1 repeats it"
    }

    private static func number<Number: FixedWidthInteger>(_ variable: String, unlessSet standard: Number) -> Number {
        ProcessInfo.processInfo.environment[variable].flatMap { Number($0) } ?? standard
    }
}
