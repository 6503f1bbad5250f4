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
    private static let lanesPerCell = 3

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

        return JSONWriter.object(capacity: 8192) { json in
            json.member("main", edges(south, west, main: true).map(\.encoded))
            json.member("streets", (edges(south, west, main: false) + lanes(south, west)).map(\.encoded))
            json.member("parks", parks(south, west).map(\.encoded))
            json.array("names") { json in addNames(south, west, to: &json) }
        }
    }

    // MARK: - Lines

    /// A point in units of 1/`unitsPerDegree` degrees.
    fileprivate struct Point {
        var x: Double
        var y: Double

        func between(_ other: Point, at part: Double) -> Point {
            Point(x: x + (other.x - x) * part, y: y + (other.y - y) * part)
        }
    }

    /// Returns the streets along the edges of cells.
    private func edges(_ south: Int, _ west: Int, main: Bool) -> [[Point]] {
        (0..<Self.cellsPerBlock).flatMap { step -> [[Point]] in
            // Blocks are an even number of cells wide, so that main streets continue in the next one.
            guard (step % Self.cellsPerQuarter == 0) == main else { return [] }
            let along = 0...Self.cellsPerBlock
            return [
                along.map { corner(south + step, west + $0) }, along.map { corner(south + $0, west + step) },
            ]
        }
    }

    /// Returns the streets within cells. They continue in the next cell, or end at its edge.
    private func lanes(_ south: Int, _ west: Int) -> [[Point]] {
        var lines: [[Point]] = []
        for step in 0..<Self.cellsPerBlock {
            for lane in 0..<Self.lanesPerCell {
                lines += joined { at in
                    let (row, column) = (south + step, west + at)
                    guard hasLane(lane, row, column, salt: 0xEA57) else { return nil }
                    return (crossing(lane, row, column, .north), crossing(lane, row, column + 1, .north))
                }
                lines += joined { at in
                    let (row, column) = (south + at, west + step)
                    guard hasLane(lane, row, column, salt: 0x50F7) else { return nil }
                    return (crossing(lane, row, column, .east), crossing(lane, row + 1, column, .east))
                }
            }
        }
        return lines
    }

    /// Joins consecutive pieces of a lane, cell by cell.
    private func joined(_ piece: (Int) -> (Point, Point)?) -> [[Point]] {
        var lines: [[Point]] = []
        var isOpen = false
        for at in 0..<Self.cellsPerBlock {
            guard let (begin, end) = piece(at) else {
                isOpen = false
                continue
            }
            if isOpen { lines[lines.count - 1].append(end) } else { lines.append([begin, end]) }
            isOpen = true
        }
        return lines
    }

    private func parks(_ south: Int, _ west: Int) -> [[Point]] {
        (south..<south + Self.cellsPerBlock).flatMap { row in
            (west..<west + Self.cellsPerBlock).compactMap { column -> [Point]? in
                var numbers = numbers(0xCA2C, row, column)
                guard numbers.percent(9) else { return nil }
                let (low, high) = (0.1 + numbers.unit() * 0.25, 0.6 + numbers.unit() * 0.3)
                let corners = [(low, low), (high, low), (high, high), (low, high), (low, low)]
                return corners.map { inside(row, column, east: $0.0, north: $0.1) }
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

    private enum Edge: UInt64 {
        case east = 1
        case north = 2
    }

    /// Returns the point where four cells meet. It is near the exact corner, so that no street is completely straight.
    private func corner(_ row: Int, _ column: Int) -> Point {
        var numbers = numbers(0xC0C0, row, column)
        let (east, north) = (numbers.unit() * 0.3 - 0.15, numbers.unit() * 0.3 - 0.15)
        let side = Self.unitsPerDegree / CellID.perDegree
        return Point(
            x: Self.longitude(column) * Self.unitsPerDegree + east * side,
            y: Self.latitude(row) * Self.unitsPerDegree + north * side)
    }

    /// Returns where a lane crosses the edge from a corner to the east or to the north.
    private func crossing(_ lane: Int, _ row: Int, _ column: Int, _ edge: Edge) -> Point {
        var numbers = numbers(0xC405 &+ edge.rawValue &<< 8 &+ UInt64(lane), row, column)
        let part = (Double(lane) + 0.7 + numbers.unit() * 0.6) / (Double(Self.lanesPerCell) + 1)
        let other = edge == .east ? corner(row, column + 1) : corner(row + 1, column)
        return corner(row, column).between(other, at: part)
    }

    private func inside(_ row: Int, _ column: Int, east: Double, north: Double) -> Point {
        let low = corner(row, column).between(corner(row, column + 1), at: east)
        let high = corner(row + 1, column).between(corner(row + 1, column + 1), at: east)
        return low.between(high, at: north)
    }

    private func hasLane(_ lane: Int, _ row: Int, _ column: Int, salt: UInt64) -> Bool {
        var numbers = numbers(salt &+ UInt64(lane), row, column)
        return numbers.percent(78)
    }

    private func numbers(_ salt: UInt64, _ row: Int, _ column: Int) -> HashStream {
        HashStream(mixed(seed ^ salt &<< 40 ^ CellID(row: row, column: column).key))
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
