internal import NIOCore

/// A square of 0.005 degrees, which in Japan measures about 556 m from south to north and 450 m from west to east.
struct CellID: Hashable {
    static let perDegree = 200.0
    static let rows = 36_000
    static let columns = 72_000

    /// The row, counted from the south pole, 0..<`rows`.
    let row: Int
    /// The column, counted from the date line, 0..<`columns`.
    let column: Int

    /// The same as one number.
    var key: UInt64 { UInt64(truncatingIfNeeded: row) << 17 | UInt64(truncatingIfNeeded: column) }

    /// - Parameter column: any number, as columns go round the world.
    init(row: Int, column: Int) {
        self.row = row
        let rest = column % Self.columns
        self.column = rest < 0 ? rest + Self.columns : rest
    }

    static func row(_ latitude: Double) -> Int { min(max(Int((latitude + 90) * perDegree), 0), rows - 1) }
    static func column(_ longitude: Double) -> Int { Int(((longitude + 180) * perDegree).rounded(.down)) }
}

/// The places of one square, with the fragments that were rendered of them. Confined to one event loop.
final class Cell {
    let id: CellID
    let places: [SimulatedPlace]
    /// An index of `Town.all`.
    let town: Int
    /// An index of `Lexicon.districts`.
    let district: Int
    /// An index of the town's stations.
    let station: Int
    /// The fragments by place and rendering (see `World.fragment`).
    var fragments: [UInt64: ByteBuffer] = [:]
    /// The places that Hot Pepper lists; none outside Japan.
    let shops: [SimulatedPlace]

    init(_ id: CellID, seed: UInt64) {
        self.id = id
        let (south, west) = (Double(id.row) / CellID.perDegree - 90, Double(id.column) / CellID.perDegree - 180)
        town = Town.index(latitude: south, longitude: west)

        // A quarter of a town is four cells large.
        var quarter = HashStream(mixed(seed ^ 0xD157 ^ UInt64(id.row / 2) << 20 ^ UInt64(id.column / 2)))
        district = quarter.next(below: Lexicon.districts.count)
        station = quarter.next(below: Town.all[town].stations.count)

        var numbers = HashStream(mixed(seed ^ 0xCE11 ^ id.key))
        let count = Self.isEmpty(latitude: south, longitude: west) ? 0 : 6 + numbers.next(below: 17)
        places = (0..<count).map { SimulatedPlace(cell: id, slot: $0, seed: seed) }
        let isServed = Town.isServedByHotpepper(row: id.row, column: id.column)
        shops = isServed ? places.filter(\.isListedByHotpepper) : []
    }

    /// True where there are no places, so that a search can find nothing: within a degree of 0, 0 and beyond 85 degrees north
    /// and south.
    static func isEmpty(latitude: Double, longitude: Double) -> Bool {
        abs(latitude) > 85 || (abs(latitude) <= 1 && abs(longitude) <= 1)
    }
}
