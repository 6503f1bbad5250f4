internal import NIOCore

/// All places, which are derived from the seed alone. Recently used cells are cached up to a number of bytes. Confined
/// to one event loop.
final class World {
    let seed: UInt64
    let ids: PlaceIDs
    // The cells are cached in two generations. When the young one is full, unused cells of the old one are dropped.
    // This is cheaper than a list in the order of use.
    private var young: [UInt64: Cell] = [:]
    private var old: [UInt64: Cell] = [:]
    private var youngBytes = 0
    private var oldBytes = 0
    private let generationBytes: Int

    /// The number of cached bytes. It is at most the limit given to `init`, which is at least 2 MB. Cells in use
    /// elsewhere are not included.
    var cachedBytes: Int { youngBytes + oldBytes }

    init(seed: UInt64, cacheBytes: Int) {
        self.seed = seed
        ids = PlaceIDs(seed: seed)
        generationBytes = max(cacheBytes / 2, 1 << 20)
    }

    /// Returns a cell. It is created if it is not cached.
    func cell(_ id: CellID) -> Cell {
        let key = id.key
        if let cell = young[key] { return cell }
        let cell = old.removeValue(forKey: key) ?? Cell(id, seed: seed)
        makeRoom(for: cell.fragments.values.reduce(800) { $0 + $1.readableBytes })
        young[key] = cell
        return cell
    }

    /// Returns the place at a position with its cell; `nil` if there is none.
    func place(_ place: PlaceIDs.Place) -> (Cell, SimulatedPlace)? {
        let cell = cell(place.cell)
        if place.slot == PlaceIDs.localitySlot {
            return (cell, SimulatedPlace(cell: place.cell, slot: place.slot, seed: seed))
        }
        guard cell.places.indices.contains(place.slot) else { return nil }
        return (cell, cell.places[place.slot])
    }

    /// Returns the cached fragment of a place, or renders and caches it.
    /// - Parameter rendering: a number that identifies the provider, language and members of the rendering.
    func fragment(
        of place: SimulatedPlace, in cell: Cell, rendering: UInt32, render: () -> ByteBuffer
    ) -> ByteBuffer {
        let key = UInt64(rendering) << 8 | UInt64(place.slot)
        if let fragment = cell.fragments[key] { return fragment }
        let fragment = render()
        makeRoom(for: fragment.readableBytes + 100)
        cell.fragments[key] = fragment
        return fragment
    }

    /// Removes all cells with their fragments.
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
