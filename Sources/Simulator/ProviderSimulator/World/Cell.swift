internal import NIOCore

/// The places in one square, with their rendered fragments. Confined to one event loop.
final class Cell {
    let id: CellID
    let places: [SimulatedPlace]
    /// The town, as an index of `Town.all`.
    let town: Int
    /// The quarter, as an index of `Lexicon.districts`.
    let district: Int
    /// The station, as an index of the town's stations.
    let station: Int
    /// The fragments by rendering and place (see `World.fragment`).
    var fragments: [UInt64: ByteBuffer] = [:]
    /// The places that Hot Pepper lists; none outside Japan.
    let shops: [SimulatedPlace]

    init(_ id: CellID, seed: UInt64) {
        self.id = id
        let (south, west) = (Double(id.row) / CellID.perDegree - 90, Double(id.column) / CellID.perDegree - 180)
        town = Town.index(latitude: south, longitude: west)

        var quarter = Self.quarter(of: id, seed: seed)
        district = quarter.next(below: Lexicon.districts.count)
        station = quarter.next(below: Town.all[town].stations.count)

        var numbers = HashStream(mixed(seed ^ 0xCE11 ^ id.key))
        let count = Self.isEmpty(latitude: south, longitude: west) ? 0 : 6 + numbers.next(below: 17)
        places = (0..<count).map { SimulatedPlace(cell: id, slot: $0, seed: seed) }
        let isServed = PlaceIDs.hasHotpepperIDs(id)
        shops = isServed ? places.filter(\.isListedByHotpepper) : []
    }

    /// Returns the random numbers of a quarter, which consists of four cells.
    private static func quarter(of id: CellID, seed: UInt64) -> HashStream {
        HashStream(mixed(seed ^ 0xD157 ^ UInt64(id.row / 2) << 20 ^ UInt64(id.column / 2)))
    }

    /// Returns the name of the quarter, as an index of `Lexicon.districts`.
    static func district(of id: CellID, seed: UInt64) -> Int {
        var quarter = quarter(of: id, seed: seed)
        return quarter.next(below: Lexicon.districts.count)
    }

    /// Returns true where there are no places, so that searches find nothing: within one degree of 0, 0, and beyond 85
    /// degrees north and south.
    static func isEmpty(latitude: Double, longitude: Double) -> Bool {
        abs(latitude) > 85 || (abs(latitude) <= 1 && abs(longitude) <= 1)
    }
}
