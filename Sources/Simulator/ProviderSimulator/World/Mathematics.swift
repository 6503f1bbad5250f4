import LibC

/// Functions of the C library under names that say what they do.
enum Mathematics {
    static func logarithm(_ number: Double) -> Double { log(number) }
    static func exponential(_ number: Double) -> Double { exp(number) }
    static func cosine(_ degrees: Double) -> Double { cos(degrees * (Double.pi / 180)) }
}
