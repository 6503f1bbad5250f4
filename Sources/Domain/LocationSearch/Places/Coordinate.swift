import LibC

/// A position on WGS 84, in decimal degrees.
public struct Coordinate: Sendable, Hashable {
    /// The latitude, finite, -90...90.
    public var latitude: Double
    /// The longitude, finite, -180...180.
    public var longitude: Double

    /// Makes a position in decimal degrees, without validation.
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// True if both are finite and in range. A provider's coordinates are checked with this before use.
    public var isValid: Bool { latitude.magnitude <= 90 && longitude.magnitude <= 180 }

    /// Returns the distance in metres along the great circle (haversine; IUGG mean earth radius 6,371,008.8 m).
    public func distance(to other: Coordinate) -> Double {
        let (a, b) = (latitude * .pi / 180, other.latitude * .pi / 180)
        let (sinA, sinB) = (sin((b - a) / 2), sin((other.longitude - longitude) * .pi / 360))
        let h = sinA * sinA + cos(a) * cos(b) * sinB * sinB
        return 2 * 6_371_008.8 * asin(min(1, h.squareRoot()))
    }
}
