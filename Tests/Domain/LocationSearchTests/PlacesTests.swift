@testable import LocationSearch
import Testing

struct PlacesTests {
    private static let bare = Place(id: "x", provider: .googlePlaces, name: "y")
    private static let full = Place(
        id: "J1", provider: .hotpepper, name: "炭火 一", category: "居酒屋", types: ["居酒屋", "", "和食"],
        location: Coordinate(latitude: 35.6, longitude: 139.7), distanceMeters: 12, address: "",
        imageURL: "https://i/1",
        url: "https://u/1", rating: 4.5, ratingCount: 0, priceLevel: 2, openNow: false)

    @Test func `A list returns the places that were added`() {
        let places: Places = [Self.full, Self.bare]
        #expect(Array(places) == [Self.full, Self.bare])
        #expect(places.count == 2 && places[1] == Self.bare)
        #expect(Places().isEmpty)
    }

    /// Their texts may be stored differently; only the content counts.
    @Test func `Lists with equal places are equal`() {
        var other: Places = [Self.bare, Self.full, Self.bare]
        #expect(other != [Self.full, Self.bare])
        other.removeAll { $0.provider == .googlePlaces }
        #expect(other == [Self.full])
        #expect(Set([other, [Self.full]]).count == 1)
        var changed = Self.full
        changed.types = ["居酒屋", "和食"]
        #expect(other != [changed])
    }

    @Test(arguments: [(-1, 0), (0, 0), (1, 1), (2, 2), (9, 2)])
    func `The first places are kept`(limit: Int, left: Int) {
        var places: Places = [Self.full, Self.bare]
        places.keepFirst(limit)
        #expect(Array(places) == Array([Self.full, Self.bare].prefix(left)))
    }

    @Test func `Only places with a location have a distance`() {
        var places: Places = [Self.full, Self.bare]
        places.measureDistances(from: Coordinate(latitude: 35.6, longitude: 139.7))
        #expect(places.map(\.distanceMeters) == [0, nil])
    }

    private struct Broken: Error {}

    @Test func `A text whose writing fails leaves nothing`() {
        var places = Places()
        let kept = places.add("kept")
        #expect(throws: Broken.self) {
            try places.add { text throws(Broken) in
                text.append(contentsOf: "half".utf8)
                throw Broken()
            }
        }
        #expect(places.string(kept) == "kept" && places.allTexts.count == 4)
    }

    @Test func `Texts are compared by their bytes`() {
        var places = Places()
        let (first, same, longer) = (places.add("a/b"), places.add("a/b"), places.add("a/bc"))
        #expect(places.areEqual(first, same) && !places.areEqual(first, longer))
        #expect(places.fingerprint(of: first) == places.fingerprint(of: same))
        #expect((0..<64).contains(places.fingerprint(of: Places.Text())))
        #expect(places.hasPrefix(longer, "a/") && !places.hasPrefix(longer, "b") && places.hasPrefix(longer, ""))
        #expect(places.hasSuffix(longer, "bc") && !places.hasSuffix(first, "aa/b"))
        #expect(places.string(longer.dropFirst(2)) == "bc" && longer.dropFirst(9).isEmpty)
    }

    // MARK: Distances

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
