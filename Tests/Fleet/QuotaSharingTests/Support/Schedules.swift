import Foundation

/// The random schedules that the simulations of fleets run, as set in the environment.
enum Schedules {
    /// Returns the seeds of the schedules: `LOCSEARCH_FLEET_SCHEDULES` of them, starting with `LOCSEARCH_FLEET_SEED`.
    /// - Parameter count: the number of schedules if the environment sets none.
    static func seeds(unlessSet count: UInt64) -> Range<UInt64> {
        let first: UInt64 = number("LOCSEARCH_FLEET_SEED", unlessSet: 1)
        return first..<first + number("LOCSEARCH_FLEET_SCHEDULES", unlessSet: count)
    }

    /// Returns the number of members of a large fleet, from `LOCSEARCH_FLEET_MEMBERS`.
    /// - Parameter count: the number if the environment sets none.
    static func members(unlessSet count: Int) -> Int { number("LOCSEARCH_FLEET_MEMBERS", unlessSet: count) }

    /// Returns the settings that run one schedule again.
    static func again(_ seed: UInt64) -> String {
        "LOCSEARCH_FLEET_SEED=\(seed) LOCSEARCH_FLEET_SCHEDULES=1 repeats it"
    }

    private static func number<Number: FixedWidthInteger>(_ variable: String, unlessSet standard: Number) -> Number {
        ProcessInfo.processInfo.environment[variable].flatMap { Number($0) } ?? standard
    }
}
