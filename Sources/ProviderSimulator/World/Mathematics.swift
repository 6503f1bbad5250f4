#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The C library's functions under names that tell what is meant.
enum Mathematics {
    static func logarithm(_ number: Double) -> Double { log(number) }
    static func exponential(_ number: Double) -> Double { exp(number) }
    static func squareRoot(_ number: Double) -> Double { number.squareRoot() }
    /// Of degrees.
    static func cosine(_ degrees: Double) -> Double { cos(degrees * (Double.pi / 180)) }
}
