import LibC

/// A square of 0.005 degrees. In Japan it measures about 556 m from south to north and 450 m from west to east.
struct CellID: Hashable {
    static let perDegree = 200.0
    static let rows = 36_000
    static let columns = 72_000

    /// The row, counted from the south pole: 0..<`rows`.
    let row: Int
    /// The column, counted from the date line: 0..<`columns`.
    let column: Int

    /// The row and the column in one number.
    var key: UInt64 { UInt64(truncatingIfNeeded: row) << 17 | UInt64(truncatingIfNeeded: column) }

    /// - Parameter column: any number; columns wrap around the world.
    init(row: Int, column: Int) {
        self.row = row
        let rest = column % Self.columns
        self.column = rest < 0 ? rest + Self.columns : rest
    }

    static func row(_ latitude: Double) -> Int { min(max(Int((latitude + 90) * perDegree), 0), rows - 1) }
    static func column(_ longitude: Double) -> Int { Int(((longitude + 180) * perDegree).rounded(.down)) }
}

/// Functions of the C library with descriptive names.
enum Mathematics {
    static func logarithm(_ number: Double) -> Double { log(number) }
    static func exponential(_ number: Double) -> Double { exp(number) }
    static func cosine(_ degrees: Double) -> Double { cos(degrees * (Double.pi / 180)) }
}
