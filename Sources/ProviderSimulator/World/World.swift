internal import NIOCore

/// All places there are: a pure function of the seed. Keeps the cells used last, up to a number of bytes.
/// Confined to one event loop.
final class World {
    let seed: UInt64
    let ids: PlaceIDs
    /// Two generations: what was not used while one filled up goes. Cheaper than a list of uses.
    private var young: [UInt64: Cell] = [:]
    private var old: [UInt64: Cell] = [:]
    private var youngBytes = 0
    private var oldBytes = 0
    private let generationBytes: Int

    /// At most what `init` was given, rounded up to 2 MB; cells that are in use elsewhere aside.
    var cachedBytes: Int { youngBytes + oldBytes }

    init(seed: UInt64, cacheBytes: Int) {
        self.seed = seed
        ids = PlaceIDs(seed: seed)
        generationBytes = max(cacheBytes / 2, 1 << 20)
    }

    func cell(_ id: CellID) -> Cell {
        let key = id.key
        if let cell = young[key] { return cell }
        let cell = old.removeValue(forKey: key) ?? Cell(id, seed: seed)
        makeRoom(for: cell.fragments.values.reduce(800) { $0 + $1.readableBytes })
        young[key] = cell
        return cell
    }

    /// The place of an id, wherever it is.
    func place(_ place: PlaceIDs.Place) -> (Cell, SimulatedPlace)? {
        let cell = cell(place.cell)
        if place.slot == PlaceIDs.localitySlot {
            return (cell, SimulatedPlace(cell: place.cell, slot: place.slot, seed: seed))
        }
        guard cell.places.indices.contains(place.slot) else { return nil }
        return (cell, cell.places[place.slot])
    }

    /// What `render` made of this place the first time.
    func fragment(_ cell: Cell, _ place: SimulatedPlace, _ rendering: UInt32, _ render: () -> ByteBuffer) -> ByteBuffer
    {
        let key = UInt64(rendering) << 8 | UInt64(place.slot)
        if let fragment = cell.fragments[key] { return fragment }
        let fragment = render()
        makeRoom(for: fragment.readableBytes + 100)
        cell.fragments[key] = fragment
        return fragment
    }

    func forgetAll() {
        (young, old, youngBytes, oldBytes) = ([:], [:], 0, 0)
    }

    private func makeRoom(for bytes: Int) {
        guard youngBytes + bytes > generationBytes else {
            youngBytes += bytes
            return
        }
        (old, oldBytes) = (young, youngBytes)
        (young, youngBytes) = ([:], bytes)
    }
}
