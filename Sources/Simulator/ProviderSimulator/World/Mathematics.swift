import LibC

/// Functions of the C library with descriptive names.
enum Mathematics {
    static func logarithm(_ number: Double) -> Double { log(number) }
    static func exponential(_ number: Double) -> Double { exp(number) }
    static func cosine(_ degrees: Double) -> Double { cos(degrees * (Double.pi / 180)) }
}
