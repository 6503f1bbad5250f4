import Foundation
import NIOCore
import Testing

@testable import ProviderSimulator

struct WorldTests {
    @Test func `Simulators of the same seed answer the same bytes`() async throws {
        var bodies: [Data] = []
        for seed in [7, 7, 8] as [UInt64] {
            let simulator = try await Simulator { $0.seed = seed }
            bodies.append(try await simulator.gourmet("\(Simulator.spot)&count=50").body)
        }
        #expect(bodies[0] == bodies[1])
        #expect(bodies[0] != bodies[2])
    }

    @Test func `Overlapping searches find the same places`() async throws {
        let simulator = try await Simulator()
        let here = try await simulator.gourmet("lat=35.6909&lng=139.7003&range=5&count=100")
        let there = try await simulator.gourmet("lat=35.6930&lng=139.7020&range=5&count=100")
        let names = Dictionary(
            uniqueKeysWithValues: here.shops.map { ($0["id"] as? String ?? "", $0["name"] as? String) })
        let common = there.shops.filter { names[$0["id"] as? String ?? ""] != nil }
        #expect(common.count > 30)
        #expect(common.allSatisfy { names[$0["id"] as? String ?? ""] == $0["name"] as? String })
    }

    @Test(arguments: [
        (35.69, 139.7), (-33.87, 151.2), (64.1, -21.9), (35.0, 179.9999), (35.0, -179.9999), (84.9, 10), (-0.1, -179.9),
    ])
    func `Places are found all over the world and within the radius`(latitude: Double, longitude: Double) throws {
        let world = World(seed: 1, cacheBytes: 1 << 20)
        let query = PlaceQuery(area: .circle(latitude: latitude, longitude: longitude, radius: 1000))
        let (hits, total) = PlaceFinder(world: world).find(query, start: 0, count: 10_000)
        #expect(total > 50 && hits.count == total)
        for hit in hits {
            #expect(metres((latitude, longitude), (hit.place.latitude, hit.place.longitude)) <= 1010)
            #expect(abs(hit.place.latitude - latitude) < 0.02)
        }
    }

    @Test func `The first hits are the same, however many are requested`() {
        let finder = PlaceFinder(world: World(seed: 1, cacheBytes: 1 << 20))
        for order in [PlaceQuery.Order.distance, .prominence] {
            var query = PlaceQuery(area: .circle(latitude: 35.69, longitude: 139.7, radius: 3000))
            query.order = order
            let all = finder.find(query, start: 0, count: 10_000).hits.map(\.place.hash)
            #expect(Set(all).count == all.count)
            for (start, count) in [(0, 1), (0, 20), (20, 20), (400, 100)] {
                let part = finder.find(query, start: start, count: count).hits.map(\.place.hash)
                #expect(part == Array(all[start..<(start + count)]))
            }
        }
    }

    @Test func `Ids find their place`() {
        for seed in [0, 1, .max] as [UInt64] {
            let ids = PlaceIDs(seed: seed)
            var numbers = HashStream(seed)
            for _ in 0..<2000 {
                let cell = CellID(row: numbers.next(below: CellID.rows), column: numbers.next(below: CellID.columns))
                let place = PlaceIDs.Place(cell: cell, slot: numbers.next(below: 32))
                guard case .place(let found) = ids.googlePlace(ids.googleID(place)) else {
                    Issue.record("\(place)")
                    continue
                }
                #expect(found == place)
                let inJapan = PlaceIDs.Place(
                    cell: CellID(
                        row: PlaceIDs.hotpepperRows.lowerBound + numbers.next(below: PlaceIDs.hotpepperRows.count),
                        column: PlaceIDs.hotpepperColumns.lowerBound
                            + numbers.next(below: PlaceIDs.hotpepperColumns.count)),
                    slot: numbers.next(below: PlaceIDs.slots))
                #expect(ids.hotpepperPlace(ids.hotpepperID(inJapan)) == inJapan)
            }
        }
    }

    @Test func `Ids of another world are unknown`() {
        let place = PlaceIDs.Place(cell: CellID(row: 25_138, column: 63_940), slot: 3)
        guard case .unknown = PlaceIDs(seed: 2).googlePlace(PlaceIDs(seed: 1).googleID(place)) else {
            Issue.record("known")
            return
        }
    }

    /// Every oddity in the notes on the providers occurs, often enough for tests.
    @Test func `The world has the oddities of real answers`() throws {
        let world = World(seed: 1, cacheBytes: 1 << 20)
        let hits = PlaceFinder(world: world).find(
            PlaceQuery(area: .circle(latitude: 35.69, longitude: 139.7, radius: 3000)), start: 0, count: 2000
        ).hits
        var (shops, google) = ([[String: Any]](), [[String: Any]]())
        for hit in hits {
            let text = PlaceText(place: hit.place, cell: hit.cell)
            if hit.place.isListedByHotpepper {
                let shop = HotpepperShop(text: text, ids: world.ids)
                let json = Data(shop.render(isLite: false).readableBytesView)
                shops.append(try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any]))
            }
            let place = LegacyPlace(text: text, ids: world.ids, language: .japanese)
            let json = Data(place.render(isDetailed: false))
            google.append(try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any]))
        }
        let names = shops.compactMap { $0["name"] as? String } + google.compactMap { $0["name"] as? String }
        let scalars = names.flatMap(\.unicodeScalars)
        #expect(scalars.contains { $0.properties.isEmojiPresentation })
        #expect(scalars.contains { (0x590...0x6FF).contains($0.value) })
        #expect(scalars.contains { (0xFF61...0xFF9F).contains($0.value) })
        #expect(scalars.contains("\u{3000}") && names.contains { $0.hasSuffix(" ") })
        #expect(
            shops.contains { $0["party_capacity"] as? String == "" } && shops.contains { $0["party_capacity"] is Int })
        #expect(
            shops.contains { $0["catch"] as? String == "" } && shops.contains { $0["station_name"] as? String == "" })
        #expect(shops.contains { $0["lunch"] == nil } && shops.contains { $0["sub_genre"] == nil })
        #expect(shops.contains { ($0["logo_image"] as? String)?.hasSuffix("noimage.gif") == true })
        #expect(shops.contains { ($0["food"] as? [String: Any])?.isEmpty == true })
        #expect(google.contains { $0["rating"] as? Int == 0 && $0["user_ratings_total"] as? Int == 0 })
        #expect(google.contains { $0["rating"] == nil } && google.contains { $0["price_level"] as? Int == 0 })
        #expect(google.contains { ($0["opening_hours"] as? [String: Any])?.isEmpty == true })
        #expect(google.contains { $0["opening_hours"] == nil } && google.contains { $0["photos"] == nil })
        #expect(
            google.contains {
                $0["business_status"] as? String == "CLOSED_TEMPORARILY" && $0["permanently_closed"] as? Bool == true
            })
    }

    @Test func `Rendered places stay within their memory`() {
        let world = World(seed: 1, cacheBytes: 4 << 20)
        for column in 0..<400 {
            let cell = world.cell(CellID(row: 25_000, column: 64_000 + column))
            for place in cell.places {
                _ = world.fragment(of: place, in: cell, rendering: 1) { .init(repeating: 0x20, count: 4000) }
            }
            #expect(world.cachedBytes <= 4 << 20)
        }
    }
}
