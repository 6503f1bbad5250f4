import LocationSearch
import Testing

struct CoordinateTests {
    /// Along a meridian the distance is the arc itself.
    @Test(arguments: [0, 1e-5, 0.01, 0.5, 1.14, 1.15, 10, 90, 179.9])
    func `Distances are arcs of the mean radius`(degrees: Double) {
        let start = Coordinate(latitude: -90, longitude: 0)
        let end = Coordinate(latitude: -90 + degrees, longitude: 0)
        let arc = 6_371_008.8 * degrees * .pi / 180
        #expect(abs(start.distance(to: end) - arc) <= 1e-9 * arc + 1e-6)
        #expect(start.distance(to: end) == end.distance(to: start))
    }

    @Test func `Distances cross the date line`() {
        let (west, east) = (Coordinate(latitude: 0, longitude: 179.5), Coordinate(latitude: 0, longitude: -179.5))
        #expect(abs(west.distance(to: east) - 111_195.08) < 0.01)
    }
}
