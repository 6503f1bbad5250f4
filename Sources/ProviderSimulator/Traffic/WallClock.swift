#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The time of day in whole seconds, for counts per second and for HTTP dates.
enum WallClock {
    /// Returns the seconds since 1970.
    ///
    /// It calls `time` because `clock_gettime` needs a structure of C's, whose module differs by platform.
    static func seconds() -> Int {
        time(nil)
    }
}
