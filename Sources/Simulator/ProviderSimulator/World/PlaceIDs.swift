internal import Basics

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

/// Place ids in the formats of the providers. An id encodes the position of its place, so details need no index, and
/// overlapping searches return equal ids. A Google id from another seed is unknown.
struct PlaceIDs: Sendable {
    /// The position of a place: its cell, and its number within the cell.
    struct Place: Hashable {
        let cell: CellID
        let slot: Int
    }

    /// The maximum number of places in a cell. Hot Pepper's ids of nine digits allow no more.
    static let slots = 30
    /// The cells between latitudes 20 and 46 and longitudes 122 and 154.
    static let hotpepperRows = 22_000..<27_200
    static let hotpepperColumns = 60_400..<66_800

    /// The number of Hot Pepper's ids. It is larger than the number of places (998,400,000).
    private static let idCount: UInt64 = 1_000_000_000

    let seed: UInt64

    // MARK: Hot Pepper

    /// Returns `true` where Hot Pepper can have shops: in a rectangle around Japan, because its ids allow no more.
    static func hasHotpepperIDs(_ cell: CellID) -> Bool {
        hotpepperRows.contains(cell.row) && hotpepperColumns.contains(cell.column)
    }

    /// Returns an id in Hot Pepper's format: "J" and nine digits.
    func hotpepperID(_ place: Place) -> String {
        let row = place.cell.row - Self.hotpepperRows.lowerBound
        let column = place.cell.column - Self.hotpepperColumns.lowerBound
        let number = UInt64((row * Self.hotpepperColumns.count + column) * Self.slots + place.slot)
        let digits = String((number + seed % Self.idCount) % Self.idCount)
        return "J" + String(repeating: "0", count: 9 - digits.count) + digits
    }

    /// Returns the position for a Hot Pepper id; `nil` if the format is wrong or there is no such place.
    func hotpepperPlace(_ id: some StringProtocol) -> Place? {
        guard id.first == "J", id.utf8.count == 10, let digits = UInt64(id.dropFirst()) else { return nil }
        let number = Int((digits + Self.idCount - seed % Self.idCount) % Self.idCount)
        let (cell, slot) = number.quotientAndRemainder(dividingBy: Self.slots)
        let (row, column) = cell.quotientAndRemainder(dividingBy: Self.hotpepperColumns.count)
        guard row < Self.hotpepperRows.count else { return nil }
        return Place(
            cell: CellID(
                row: row + Self.hotpepperRows.lowerBound, column: column + Self.hotpepperColumns.lowerBound),
            slot: slot)
    }

    // MARK: Google

    /// Returns an id in Google's format, "ChIJ...": 27 characters of Base64 that encode three tags and two words of 8
    /// bytes.
    func googleID(_ place: Place) -> String {
        let (first, second) = words(place)
        return Base64.encode([0x0A, 0x12, 0x09] + first.bytes + [0x11] + second.bytes, as: .url)
    }

    enum Lookup {
        case place(Place)
        /// The format is correct, but no place has the id.
        case unknown
        /// The text is not an id.
        case malformed
    }

    /// Returns the position for a Google id.
    func googlePlace(_ id: some StringProtocol) -> Lookup {
        guard id.utf8.count == 27, let bytes = Base64.decode(id, as: .url), bytes.count == 20 else { return .malformed }
        guard bytes[0] == 0x0A, bytes[1] == 0x12, bytes[2] == 0x09, bytes[11] == 0x11 else { return .malformed }
        guard let place = place(ofWords: (UInt64(bytes: bytes[3..<11]), UInt64(bytes: bytes[12..<20]))) else {
            return .unknown
        }
        return .place(place)
    }

    /// Returns the two words of a place's Google id.
    func words(_ place: Place) -> (UInt64, UInt64) {
        let packed = place.cell.key << 5 | UInt64(place.slot)
        let first = packed ^ mixed(seed)
        return (first, mixed(first ^ seed))
    }

    /// Returns the position for the two words of a Google id; `nil` if no place has them.
    func place(ofWords words: (UInt64, UInt64)) -> Place? {
        let (first, second) = words
        guard second == mixed(first ^ seed) else { return nil }

        let packed = first ^ mixed(seed)
        let (row, column) = (packed >> 22, packed >> 5 & 0x1FFFF)
        guard row < CellID.rows, column < CellID.columns else { return nil }
        return Place(cell: CellID(row: Int(row), column: Int(column)), slot: Int(packed & 31))
    }
}

extension UInt64 {
    /// The eight bytes, lowest first.
    var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }

    /// Decodes at most eight bytes, lowest first.
    init(bytes: some Collection<UInt8>) {
        self = 0
        for (index, byte) in bytes.enumerated() { self |= UInt64(byte) << (index * 8) }
    }
}
