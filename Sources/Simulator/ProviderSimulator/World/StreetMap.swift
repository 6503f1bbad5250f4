internal import Basics
internal import JSON

/// The streets, parks and quarters of the simulated world, for drawing a map. Like the places, they are derived from
/// the seed.
package struct StreetMap: Sendable {
    /// The side length of a block in degrees. Blocks are numbered from the south pole and from the date line.
    package static let blockDegrees = 0.05
    /// The unit of the points of a line: 1/100,000 degree, about a metre.
    package static let unitsPerDegree = 100_000.0

    private static let cellsPerBlock = 10
    /// The number of cells between two main streets, which follow the edges of quarters.
    private static let cellsPerQuarter = 2
    /// The number of steps from a street on the edge of a cell to the next one, with a lane at each step between.
    private static let stepsPerCell = 4
    private static let stepsPerBlock = cellsPerBlock * stepsPerCell

    private let seed: UInt64

    /// - Parameter seed: `SimulatorConfiguration.seed` of the world to draw.
    package init(seed: UInt64 = SimulatorConfiguration().seed) { self.seed = seed }

    /// Returns a block as JSON: `main`, `streets` and `parks` are lines, and `names` are the names of quarters with
    /// their locations.
    /// - Returns: `nil` if the world has no such block, or the block is empty.
    package func block(row: Int, column: Int) -> [UInt8]? {
        let rows = CellID.rows / Self.cellsPerBlock
        let columns = CellID.columns / Self.cellsPerBlock
        guard (0..<rows).contains(row), (0..<columns).contains(column) else { return nil }
        let (south, west) = (row * Self.cellsPerBlock, column * Self.cellsPerBlock)
        guard !Cell.isEmpty(latitude: Self.latitude(south), longitude: Self.longitude(west)) else { return nil }

        let streets = streets(south, west)
        return JSONWriter.object(capacity: 8192) { json in
            json.member("main", streets.main.map(\.encoded))
            json.member("streets", streets.others.map(\.encoded))
            json.member("parks", parks(south, west).map(\.encoded))
            json.array("names") { json in addNames(south, west, to: &json) }
        }
    }

    // MARK: - Lines

    /// A point in units of 1/`unitsPerDegree` degrees.
    fileprivate struct Point {
        var x: Double
        var y: Double
    }

    /// Returns the streets of a block. Those along the edges of cells continue in the next block, and lanes may end
    /// before.
    private func streets(_ south: Int, _ west: Int) -> (main: [[Point]], others: [[Point]]) {
        var (main, others) = ([[Point]](), [[Point]]())
        for step in 0..<Self.stepsPerBlock {
            let (isLane, isMain) = (
                step % Self.stepsPerCell != 0, step % (Self.stepsPerCell * Self.cellsPerQuarter) == 0
            )
            var numbers = numbers(0xEA57, south * Self.stepsPerCell + step, west)
            for isEastward in [true, false] {
                let (begin, end) = isLane ? (numbers.next(below: 4), 10 - numbers.next(below: 4)) : (0, 10)
                let line = (begin...end).map { cell -> Point in
                    let (y, x) = isEastward ? (step, cell * Self.stepsPerCell) : (cell * Self.stepsPerCell, step)
                    return point(south * Self.stepsPerCell + y, west * Self.stepsPerCell + x)
                }
                if isMain { main.append(line) } else { others.append(line) }
            }
        }
        return (main, others)
    }

    /// Returns the outlines of parks. Each lies between two lanes in one of eleven cells.
    private func parks(_ south: Int, _ west: Int) -> [[Point]] {
        (south..<south + Self.cellsPerBlock).flatMap { row in
            (west..<west + Self.cellsPerBlock).compactMap { column -> [Point]? in
                var numbers = numbers(0xCA2C, row, column)
                guard numbers.percent(9) else { return nil }
                let (y, x) = (row * Self.stepsPerCell, column * Self.stepsPerCell)
                let size = 1 + numbers.next(below: 2)
                return [(1, 1), (1, 1 + size), (1 + size, 1 + size), (1 + size, 1), (1, 1)]
                    .map { point(y + $0.0, x + $0.1) }
            }
        }
    }

    private func addNames(_ south: Int, _ west: Int, to json: inout JSONWriter) {
        for row in stride(from: south, to: south + Self.cellsPerBlock, by: Self.cellsPerQuarter) {
            for column in stride(from: west, to: west + Self.cellsPerBlock, by: Self.cellsPerQuarter) {
                let (latitude, longitude) = (Self.latitude(row + 1), Self.longitude(column + 1))
                guard Town.index(latitude: latitude, longitude: longitude) != Town.elsewhere else { continue }
                let name = Lexicon.districts[Cell.district(of: CellID(row: row, column: column), seed: seed)]
                json.beginObject()
                json.member("ja", name.japanese)
                json.member("en", name.english)
                json.member("latitude", latitude)
                json.member("longitude", longitude)
                json.endObject()
            }
        }
    }

    // MARK: - Positions

    /// Returns a point that many steps from the south pole and from the date line. It is near the exact position, so
    /// that no street is completely straight.
    private func point(_ row: Int, _ column: Int) -> Point {
        // The last column of the world is the first one.
        var numbers = numbers(0xC0C0, row, column % (CellID.columns * Self.stepsPerCell))
        let step = Self.unitsPerDegree / CellID.perDegree / Double(Self.stepsPerCell)
        return Point(
            x: (Double(column) + numbers.unit() * 0.6 - 0.3) * step - 180 * Self.unitsPerDegree,
            y: (Double(row) + numbers.unit() * 0.6 - 0.3) * step - 90 * Self.unitsPerDegree)
    }

    private func numbers(_ salt: UInt64, _ row: Int, _ column: Int) -> HashStream {
        HashStream(mixed(seed ^ salt << 40 ^ UInt64(row) << 20 ^ UInt64(column)))
    }

    private static func latitude(_ row: Int) -> Double { Double(row) / CellID.perDegree - 90 }
    private static func longitude(_ column: Int) -> Double { Double(column) / CellID.perDegree - 180 }
}

extension [StreetMap.Point] {
    /// The points in the encoding of Google's polylines: each as the difference to the previous one, with five bits per
    /// letter.
    fileprivate var encoded: String {
        var text: [UInt8] = []
        var before = (x: 0, y: 0)
        for point in self {
            let at = (x: Int(saturating: point.x.rounded()), y: Int(saturating: point.y.rounded()))
            for difference in [at.x - before.x, at.y - before.y] {
                var rest = difference < 0 ? ~(difference << 1) : difference << 1
                while rest >= 0x20 {
                    text.append(UInt8(truncatingIfNeeded: 0x20 | rest & 0x1F) + 63)
                    rest >>= 5
                }
                text.append(UInt8(truncatingIfNeeded: rest) + 63)
            }
            before = at
        }
        return String(decoding: text, as: UTF8.self)
    }
}
