/// One place. It stores only what a search needs; everything else is derived from `hash`.
struct SimulatedPlace {
    /// The position in units of 10^-7 degrees.
    let latitudeE7: Int32
    let longitudeE7: Int32
    let hash: UInt64
    /// The features that Hot Pepper describes, one bit each. Two thirds of the shops have each of the first eight, and
    /// a quarter each of the others.
    let features: UInt32
    /// How well known the place is; higher is better known.
    let prominence: UInt16
    let category: UInt8
    /// The index within the cell: 0..<`PlaceIDs.slots`.
    let slot: UInt8
    /// The two parts of the name, as indices of `Lexicon.heads` and `Lexicon.cores`.
    let head: UInt8
    let core: UInt8

    var latitude: Double { Double(latitudeE7) * 1e-7 }
    var longitude: Double { Double(longitudeE7) * 1e-7 }
    var kind: Category { Category.all[Int(category)] }

    init(cell: CellID, slot: Int, seed: UInt64) {
        hash = mixed(mixed(seed ^ cell.key) &+ UInt64(slot) &* 0x9E37_79B9_7F4A_7C15)
        var numbers = HashStream(hash)
        let (spot, looks) = (numbers.next(), numbers.next())

        // 0.005 degrees are 50,000 steps of 10^-7 degrees.
        latitudeE7 = Int32(cell.row) &* 50_000 &- 900_000_000 &+ Self.step(spot)
        longitudeE7 = Int32(cell.column) &* 50_000 &- 1_800_000_000 &+ Self.step(spot >> 16)
        features = UInt32(truncatingIfNeeded: looks & numbers.next() | looks >> 32 & 0xFF)

        // The smaller of two random numbers is used, because few places are well known.
        prominence = min(UInt16(truncatingIfNeeded: spot >> 32), UInt16(truncatingIfNeeded: spot >> 48))
        category = Category.byShare[Int(looks >> 40) % Category.byShare.count]
        self.slot = UInt8(truncatingIfNeeded: slot)
        head = UInt8(truncatingIfNeeded: looks >> 32 & 15)
        core = UInt8(truncatingIfNeeded: looks >> 8 & 31)
    }

    /// Converts 16 random bits to a number in 0..<50,000.
    private static func step(_ bits: UInt64) -> Int32 { Int32(truncatingIfNeeded: ((bits & 0xFFFF) * 50_000) >> 16) }

    /// Returns random numbers for one trait. Each trait has its own generator, so changing one trait does not affect
    /// another.
    func numbers(_ trait: Trait) -> HashStream { HashStream(mixed(hash ^ trait.rawValue)) }

    enum Trait: UInt64 {
        case listing = 1, name, hours, photos, texts, area, contact, week
    }

    /// True for a restaurant that Hot Pepper lists if it is in Japan: four of five.
    var isListedByHotpepper: Bool {
        Category.foodMask >> UInt32(category) & 1 == 1 && hash >> 13 % 5 != 0
    }
    /// The dinner budget from 0, the cheapest, to 9.
    var budget: Int { Int(hash >> 17 & 3) + Int(hash >> 19 & 3) + Int(hash >> 21 & 3) }
    var capacity: Int { 8 + Int(hash >> 23 & 63) * (hash >> 29 & 7 == 0 ? 4 : 1) }
    /// The maximum party size; `nil` if Hot Pepper writes `""`.
    var partyCapacity: Int? { hash >> 32 & 7 == 0 ? nil : max(2, capacity / 2) }
    /// Google's price level, 0 to 4; `nil` for a third of the restaurants and for all other places.
    var priceLevel: Int? {
        guard kind.isFood else { return nil }
        let level = Int(hash >> 35 % 9)
        return level > 5 ? nil : level == 5 ? 1 : level
    }
    /// Google's "open now"; `nil` for the tenth of the places that have no hours.
    var openNow: Bool? { hash >> 40 % 10 == 0 ? nil : hash >> 44 & 3 != 0 }
    /// Google's rating in tenths, 10 to 50; `nil` for a place without ratings.
    var ratingTenths: Int? {
        guard hash >> 47 % 25 != 0 else { return nil }
        return 50 - Int(hash >> 52 & 7) - Int(hash >> 55 & 7) - (hash >> 58 & 15 == 0 ? 20 : 0)
    }
    var ratingCount: Int { ratingTenths == nil ? 0 : 1 + (Int(prominence) * Int(prominence)) >> 19 }
    var status: Status {
        switch hash >> 50 % 100 {
        case 0: .closedForGood
        case 1, 2: .closedForNow
        default: .operational
        }
    }
    enum Status { case operational, closedForNow, closedForGood }

    /// False for a twentieth of the places, which have types but no primary one.
    var hasPrimaryType: Bool { hash % 20 != 3 }

    /// The number of photos, 0 to 10; most places have one to three.
    var photoCount: Int {
        let share = hash >> 9 % 100
        return share < 8 ? 0 : share < 38 ? 1 : share < 63 ? 2 : share < 83 ? 3 : share < 95 ? 5 : 10
    }
}
