internal import NIOCore

/// A square of 0.005 degrees: about 556 m from south to north, 450 m from west to east in Japan.
struct CellID: Hashable {
    static let perDegree = 200.0
    static let rows = 36_000
    static let columns = 72_000

    /// From the south pole, 0..<`rows`.
    let row: Int
    /// From the date line, 0..<`columns`.
    let column: Int

    var key: UInt64 { UInt64(truncatingIfNeeded: row) << 17 | UInt64(truncatingIfNeeded: column) }

    /// Columns go round the world.
    init(row: Int, column: Int) {
        self.row = row
        let rest = column % Self.columns
        self.column = rest < 0 ? rest + Self.columns : rest
    }

    static func row(_ latitude: Double) -> Int { min(max(Int((latitude + 90) * perDegree), 0), rows - 1) }
    static func column(_ longitude: Double) -> Int { Int(((longitude + 180) * perDegree).rounded(.down)) }
}

/// The places of one square and what was rendered of them. Confined to one event loop.
final class Cell {
    let id: CellID
    let places: [SimulatedPlace]
    /// An index of `Town.all`.
    let town: Int
    /// An index of `Lexicon.districts`.
    let district: Int
    /// An index of the town's stations.
    let station: Int
    /// Rendered places by slot and rendering (`FragmentKey`).
    var fragments: [UInt64: ByteBuffer] = [:]
    /// Those of `places` that Hot Pepper lists; none outside Japan.
    let shops: [SimulatedPlace]

    init(_ id: CellID, seed: UInt64) {
        self.id = id
        let (south, west) = (Double(id.row) / CellID.perDegree - 90, Double(id.column) / CellID.perDegree - 180)
        town = Town.index(latitude: south, longitude: west)
        // A quarter is larger than a cell.
        var quarter = HashStream(mixed(seed ^ 0xD157 ^ UInt64(id.row / 2) << 20 ^ UInt64(id.column / 2)))
        district = quarter.next(below: Lexicon.districts.count)
        station = quarter.next(below: Town.all[town].stations.count)
        var numbers = HashStream(mixed(seed ^ 0xCE11 ^ id.key))
        let count = Self.isEmpty(latitude: south, longitude: west) ? 0 : 6 + numbers.next(below: 17)
        places = (0..<count).map { SimulatedPlace(cell: id, slot: $0, seed: seed) }
        let isServed = Town.isServedByHotpepper(row: id.row, column: id.column)
        shops = isServed ? places.filter(\.isListedByHotpepper) : []
    }

    /// Where nobody lives, for "nothing found": within a degree of 0, 0 and beyond 85 degrees north and south.
    static func isEmpty(latitude: Double, longitude: Double) -> Bool {
        abs(latitude) > 85 || (abs(latitude) <= 1 && abs(longitude) <= 1)
    }
}
