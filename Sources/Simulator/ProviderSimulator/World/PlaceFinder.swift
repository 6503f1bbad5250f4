internal import LibC

/// A place that a search found.
struct Hit {
    let cell: Cell
    let place: SimulatedPlace
}

/// The area to search, and the conditions that places must meet.
struct PlaceQuery {
    enum Area {
        case circle(latitude: Double, longitude: Double, radius: Double)
        case box(south: Double, west: Double, north: Double, east: Double)

        /// The area of a search without a position: the first town.
        static let firstTown = Area.circle(
            latitude: Town.all[0].latitude, longitude: Town.all[0].longitude, radius: reach)
    }
    enum Order { case distance, prominence }

    var area: Area
    var order = Order.distance
    var categories = Category.everything
    /// The categories whose places come first; 0: none.
    var preferred: Category.Mask = 0
    /// The words that every place must match.
    var keyword: KeywordMatch?
    /// Any other condition, which is checked last.
    var condition: ((SimulatedPlace, Cell) -> Bool)?
    /// True to find only places that Hot Pepper lists.
    var isHotpepper = false

    /// The maximum distance from the centre in metres. A circle of this size contains more places than any provider
    /// returns, and a search over 50 km would read 30,000 cells.
    static let reach = 3200.0
    /// The length of one degree of latitude in metres, on a sphere with the earth's mean radius, 6,371,008.8 m.
    static let metresPerDegree = 111_195.08
}

/// Finds places in an area. Confined to one event loop.
final class PlaceFinder {
    private struct Candidate {
        /// The sort key of candidates, smallest first.
        let rank: Double
        /// An index of the searched cells.
        let cell: Int
        let index: Int
    }
    private let world: World

    init(world: World) { self.world = world }

    /// Returns at most `count` hits beginning at index `start`, and the total number of hits.
    func find(_ query: PlaceQuery, start: Int, count: Int) -> (hits: [Hit], total: Int) {
        var (candidates, cells) = ([Candidate](), [Cell]())

        let area = SearchArea(query.area)
        for row in area.rows {
            for column in area.columns {
                guard area.touches(row: row, column: column) else { continue }
                let cell = world.cell(CellID(row: row, column: column))
                let before = candidates.count
                collect(from: cell, number: cells.count, matching: query, in: area, into: &candidates)
                if candidates.count > before { cells.append(cell) }
            }
        }

        let total = candidates.count
        guard start < total, count > 0 else { return ([], total) }

        let end = min(start + count, total)
        keepFirst(end, of: &candidates)
        candidates.sort { ($0.rank, $0.cell, $0.index) < ($1.rank, $1.cell, $1.index) }
        let hits = candidates[start..<end].map { found in
            let cell = cells[found.cell]
            return Hit(
                cell: cell, place: query.isHotpepper ? cell.shops[found.index] : cell.places[found.index])
        }

        return (hits, total)
    }

    @inline(__always)
    private func collect(
        from cell: Cell, number: Int, matching query: PlaceQuery, in area: SearchArea,
        into candidates: inout [Candidate]
    ) {
        let places = query.isHotpepper ? cell.shops : cell.places
        let categories = query.categories

        for index in places.indices {
            let place = places[index]
            guard categories >> UInt32(place.category) & 1 == 1, let distance = area.distance(to: place) else {
                continue
            }

            if let keyword = query.keyword, !keyword.matches(place, in: cell) { continue }
            if let condition = query.condition, !condition(place, cell) { continue }
            let rank = rank(of: place, distance: distance, in: query)
            candidates.append(Candidate(rank: rank, cell: number, index: index))
        }
    }

    private func rank(of place: SimulatedPlace, distance: Double, in query: PlaceQuery) -> Double {
        let preferred = query.preferred == 0 || query.preferred >> UInt32(place.category) & 1 == 1
        let base = query.order == .distance ? distance : Double(UInt16.max - place.prominence)
        return preferred ? base : base + 1e12
    }

    /// Drops candidates that cannot be among the first `count`. Sorting a thousand of them would cost more than the
    /// rest of a search.
    private func keepFirst(_ count: Int, of candidates: inout [Candidate]) {
        guard candidates.count > count * 2 + 32 else { return }

        var (low, high) = (Double.infinity, -Double.infinity)
        for candidate in candidates {
            low = min(low, candidate.rank)
            high = max(high, candidate.rank)
        }

        guard high > low else { return }

        let scale = 255.999 / (high - low)
        var shares = [Int](repeating: 0, count: 256)
        for candidate in candidates { shares[Int((candidate.rank - low) * scale)] += 1 }

        var (limit, sum) = (0, 0)
        while sum < count {
            sum += shares[limit]
            limit += 1
        }

        candidates.removeAll { Int(($0.rank - low) * scale) >= limit }
    }
}

/// The area of a search: the cells that it touches, and distances from its centre.
private struct SearchArea {
    let rows: ClosedRange<Int>
    let columns: ClosedRange<Int>
    private let latitude: Double
    private let longitude: Double
    /// The square of a circle's radius in metres; infinite for a box.
    private let limit: Double
    /// The latitudes of a box; infinite for a circle.
    private let latitudes: ClosedRange<Double>
    /// Half the width of a box in metres; infinite for a circle.
    private let halfWidth: Double
    private let metresPerDegreeEast: Double

    init(_ area: PlaceQuery.Area) {
        let (up, right): (Double, Double)

        switch area {
        case .circle(let latitude, let longitude, let radius):
            (self.latitude, self.longitude) = (latitude, longitude)
            let reach = min(radius, PlaceQuery.reach)
            limit = reach * reach
            (latitudes, halfWidth) = (-.infinity ... .infinity, .infinity)
            (up, right) = (reach, reach)
        case .box(let south, let west, let north, let east):
            let width = east >= west ? east - west : east - west + 360  // crosses the date line
            latitude = (south + north) / 2
            longitude = west + width / 2
            limit = .infinity
            (latitudes, halfWidth) = (south...north, width / 2 * Self.metresPerDegreeEast(at: latitude))
            up = min((north - south) / 2 * PlaceQuery.metresPerDegree, PlaceQuery.reach)
            right = min(halfWidth, PlaceQuery.reach)
        }

        metresPerDegreeEast = Self.metresPerDegreeEast(at: latitude)
        let (tall, wide) = (up / PlaceQuery.metresPerDegree, right / metresPerDegreeEast)
        rows = CellID.row(latitude - tall)...CellID.row(latitude + tall)
        columns = CellID.column(longitude - wide)...CellID.column(longitude + wide)
    }

    private static func metresPerDegreeEast(at latitude: Double) -> Double {
        PlaceQuery.metresPerDegree * max(cos(latitude * .pi / 180), 0.01)
    }

    /// Returns `true` if a cell may contain places in the area. This excludes cells in the corners of a circle's
    /// bounding square.
    func touches(row: Int, column: Int) -> Bool {
        let south = Double(row) / CellID.perDegree - 90 - latitude
        let west = Double(column) / CellID.perDegree - 180 - longitude
        let size = 1 / CellID.perDegree
        let y = (south > 0 ? south : south + size < 0 ? south + size : 0) * PlaceQuery.metresPerDegree
        let x = (west > 0 ? west : west + size < 0 ? west + size : 0) * metresPerDegreeEast
        return y * y + x * x <= limit
    }

    /// Returns the square of the distance in metres; `nil` outside the area.
    @inline(__always)
    func distance(to place: SimulatedPlace) -> Double? {
        let y = (place.latitude - latitude) * PlaceQuery.metresPerDegree
        let x = east(place.longitude) * metresPerDegreeEast
        let distance = y * y + x * x
        return distance <= limit && abs(x) <= halfWidth && latitudes.contains(place.latitude) ? distance : nil
    }

    /// Returns the difference in degrees from the centre to the east, on the shorter way around the world.
    @inline(__always)
    private func east(_ longitude: Double) -> Double {
        let difference = longitude - self.longitude
        return difference > 180 ? difference - 360 : difference < -180 ? difference + 360 : difference
    }
}
