import Foundation
import Testing

@testable import ProviderSimulator

/// The streets of the simulated world, in the format for maps.
struct StreetMapTests {
    private struct Block: Decodable {
        struct Name: Decodable {
            var ja: String
            var en: String
            var latitude: Double
            var longitude: Double
        }
        var main: [String]
        var streets: [String]
        var parks: [String]
        var names: [Name]
    }

    /// Returns the block that contains a position.
    private static func place(_ latitude: Double, _ longitude: Double) -> (row: Int, column: Int) {
        (Int((latitude + 90) / StreetMap.blockDegrees), Int((longitude + 180) / StreetMap.blockDegrees))
    }

    private static func block(_ row: Int, _ column: Int, seed: UInt64 = 1) throws -> Block {
        try JSONDecoder().decode(
            Block.self, from: Data(#require(StreetMap(seed: seed).block(row: row, column: column))))
    }

    /// Decodes the points of a line, in degrees: Google's encoding of polylines, longitudes first.
    private static func points(_ line: String) -> [(longitude: Double, latitude: Double)] {
        var values: [Int] = []
        var (value, shift) = (0, 0)
        for byte in line.utf8 {
            value |= ((Int(byte) - 63) & 0x1F) << shift
            shift += 5
            guard Int(byte) - 63 < 0x20 else { continue }
            values.append(value & 1 == 1 ? ~(value >> 1) : value >> 1)
            (value, shift) = (0, 0)
        }
        var at = (x: 0, y: 0)
        return stride(from: 0, to: values.count - 1, by: 2).map { index in
            at = (at.x + values[index], at.y + values[index + 1])
            return (Double(at.x) / StreetMap.unitsPerDegree, Double(at.y) / StreetMap.unitsPerDegree)
        }
    }

    @Test(arguments: [(35.69, 139.7), (-33.87, 151.2), (64.1, -21.9)])
    func `Streets are within their block`(latitude: Double, longitude: Double) throws {
        let (row, column) = Self.place(latitude, longitude)
        let block = try Self.block(row, column)
        #expect(block.main.count == 10 && block.streets.count > 60)

        let (south, west) = (Double(row) * 0.05 - 90, Double(column) * 0.05 - 180)
        for point in (block.main + block.streets + block.parks).flatMap(Self.points) {
            // The corners of a cell deviate from the square by up to 15 % of its side, which is 0.005 degrees.
            #expect((south - 0.001...south + 0.051).contains(point.latitude))
            #expect((west - 0.001...west + 0.051).contains(point.longitude))
        }
    }

    @Test func `Main streets continue in the next block`() throws {
        let (row, column) = Self.place(35.69, 139.7)
        let here = try Self.block(row, column).main.map(Self.points)
        let east = try Self.block(row, column + 1).main.map(Self.points)
        let ends = Set(here.compactMap(\.last).map { "\($0)" })
        let begins = Set(east.compactMap(\.first).map { "\($0)" })
        #expect(ends.intersection(begins).count >= 5)
    }

    @Test func `Streets depend only on the seed`() throws {
        let (row, column) = Self.place(35.69, 139.7)
        #expect(try Self.block(row, column, seed: 7).streets == Self.block(row, column, seed: 7).streets)
        #expect(try Self.block(row, column, seed: 7).streets != Self.block(row, column, seed: 8).streets)
    }

    @Test func `Quarters have the names of the places in them`() throws {
        let (row, column) = Self.place(35.69, 139.7)
        let names = try Self.block(row, column).names
        #expect(names.count == 25)
        for name in names {
            let id = CellID(row: CellID.row(name.latitude - 0.001), column: CellID.column(name.longitude - 0.001))
            #expect(Lexicon.districts[Cell(id, seed: 1).district].japanese == name.ja)
        }
        let (sydney, abroad) = Self.place(-33.87, 151.2)
        #expect(try Self.block(sydney, abroad).names.isEmpty)
    }

    @Test(arguments: [
        (-1, 0), (0, -1), (3600, 0), (0, 7200), (Int.max, Int.max), (Int.min, Int.min), (1800, 3600),
    ])
    func `There is no block beyond the world or in its empty areas`(row: Int, column: Int) {
        #expect(StreetMap().block(row: row, column: column) == nil)
    }
}
