internal import Basics

/// The time of day in whole seconds, for counts per second and for HTTP dates.
enum WallClock {
    /// Returns the seconds since 1970.
    static func seconds() -> Int {
        Int(WallTime.now().milliseconds / 1000)
    }
}
