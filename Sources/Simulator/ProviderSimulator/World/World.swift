internal import NIOCore

/// All places, which are derived from the seed alone. Its cells are cached, up to a number of bytes. Confined
/// to one event loop.
final class World {
    let seed: UInt64
    let ids: PlaceIDs
    private var cells: [UInt64: Cell] = [:]
    /// The number of cached bytes, at most `limit`. Cells in use elsewhere are not included.
    private(set) var cachedBytes = 0
    private let limit: Int

    init(seed: UInt64, cacheBytes: Int) {
        self.seed = seed
        ids = PlaceIDs(seed: seed)
        limit = cacheBytes
    }

    /// Returns a cell. It is created if it is not cached.
    func cell(_ id: CellID) -> Cell {
        let key = id.key
        if let cell = cells[key] { return cell }
        let cell = Cell(id, seed: seed)
        makeRoom(for: 800)
        cells[key] = cell
        return cell
    }

    /// Returns the place at a position with its cell; `nil` if there is none.
    func place(_ place: PlaceIDs.Place) -> (Cell, SimulatedPlace)? {
        let cell = cell(place.cell)
        guard cell.places.indices.contains(place.slot) else { return nil }
        return (cell, cell.places[place.slot])
    }

    /// Returns the cached fragment of a place, or renders and caches it.
    /// - Parameter rendering: a number that identifies the provider, language and members of the rendering.
    func fragment(of place: SimulatedPlace, in cell: Cell, rendering: UInt32, render: () -> ByteBuffer) -> ByteBuffer {
        let key = UInt64(rendering) << 8 | UInt64(place.slot)
        if let fragment = cell.fragments[key] { return fragment }
        let fragment = render()
        makeRoom(for: fragment.readableBytes + 100)
        cell.fragments[key] = fragment
        return fragment
    }

    /// Removes all cells with their fragments.
    func forgetAll() {
        (cells, cachedBytes) = ([:], 0)
    }

    private func makeRoom(for bytes: Int) {
        // Forgetting all is rare, and cheaper than a list in the order of use.
        if cachedBytes + bytes > limit { forgetAll() }
        cachedBytes += bytes
    }
}
