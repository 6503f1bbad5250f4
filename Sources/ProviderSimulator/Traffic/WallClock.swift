#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The time of day in whole seconds, for what is counted per second and for HTTP dates.
enum WallClock {
    /// Since 1970. `time` rather than `clock_gettime`: needs no structure of C's, whose module differs by platform.
    static func seconds() -> Int {
        time(nil)
    }
}
