import Foundation
import ProviderSimulator
import Testing

struct SimulatedHotpepperTests {
    @Test func `A search is answered in the documented shape`() async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.gourmet("\(Simulator.spot)&range=3&count=20")
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"]?.hasPrefix("text/javascript") == true)
        #expect(answer.results["results_returned"] as? String == "20")
        #expect(answer.results["results_start"] as? Int == 1)
        #expect(answer.shops.count == 20)
        #expect((46_000...60_000).contains(answer.body.count), "\(answer.body.count)")
        for shop in answer.shops {
            #expect((shop["id"] as? String)?.wholeMatch(of: /J\d{9}/) != nil)
            #expect(shop["lat"] is Double && shop["lng"] is Double)
            #expect(shop["party_capacity"] is Int || shop["party_capacity"] as? String == "")
            #expect(((shop["photo"] as? [String: Any])?["pc"] as? [String: Any])?["l"] is String)
        }
    }

    @Test(arguments: zip([1, 2, 3, 4, 5], [300.0, 500, 1000, 2000, 3000]))
    func `The range limits the distance, and the nearest come first`(range: Int, limit: Double) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.gourmet("\(Simulator.spot)&range=\(range)&count=100")
        let distances = answer.shops.map {
            metres((35.690921, 139.700258), ($0["lat"] as? Double ?? 0, $0["lng"] as? Double ?? 0))
        }
        #expect(!distances.isEmpty)
        #expect(distances.allSatisfy { $0 <= limit * 1.001 })
        #expect(zip(distances, distances.dropFirst()).allSatisfy { $0 <= $1 + 1 })
    }

    @Test func `The pages together are the whole list`() async throws {
        let simulator = try await Simulator()
        let whole = try await simulator.gourmet("\(Simulator.spot)&range=3&count=100")
        let available = try #require(whole.results["results_available"] as? Int)
        var joined: [String] = []
        while joined.count < min(available, 100) {
            let page = try await simulator.gourmet("\(Simulator.spot)&range=3&count=7&start=\(joined.count + 1)")
            #expect(page.results["results_start"] as? Int == joined.count + 1)
            try #require(!page.shops.isEmpty)
            joined += ids(page.shops)
        }
        #expect(joined.prefix(100).elementsEqual(ids(whole.shops).prefix(joined.count)))
        #expect(Set(joined).count == joined.count)
        let beyond = try await simulator.gourmet("\(Simulator.spot)&start=\(available + 1)")
        #expect(beyond.shops.isEmpty && beyond.results["results_returned"] as? String == "0")
    }

    static let refused = [
        "", "range=3", "name=x", "lat=35.6", "lat=91&lng=139", "lat=x&lng=139", "\(Simulator.spot)&range=6",
        "\(Simulator.spot)&count=x", "\(Simulator.spot)&start=0",
    ]
    @Test(arguments: refused)
    func `Bad or missing conditions are error 3000`(parameters: String) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.gourmet(parameters)
        #expect(answer.status == 200)
        #expect(answer.code == 3000)
        #expect(answer.results["shop"] == nil)
    }

    @Test(
        arguments: [("key=", 2000), ("key=wrong-one", 2000), ("key=denied", 2000), (nil, 3000), ("key=fine", nil)]
            as [(String?, Int?)])
    func `A search is rejected without a right key`(key: String?, code: Int?) async throws {
        let simulator = try await Simulator()
        #expect(try await simulator.gourmet(Simulator.spot, key: key).code == code)
    }

    @Test func `A search returns only shops that match its filters`() async throws {
        let simulator = try await Simulator()
        let area = "\(Simulator.spot)&range=5&count=100"
        let ramen = try await simulator.gourmet("\(area)&genre=G013")
        #expect(ramen.shops.count > 5)
        #expect(ramen.shops.allSatisfy { ($0["genre"] as? [String: Any])?["code"] as? String == "G013" })
        let keyword = try await simulator.gourmet("\(area)&keyword=ラーメン　新宿")
        #expect(!keyword.shops.isEmpty)
        #expect(try await simulator.gourmet("\(area)&keyword=ラーメン　zzz").shops.isEmpty)
        let tagged = try await simulator.gourmet("\(area)&keyword=ラーメン tag:17")
        #expect(ids(tagged.shops) == ids(try await simulator.gourmet("\(area)&keyword=ラーメン").shops))
    }

    @Test func `A search by id finds the shop of an earlier search`() async throws {
        let simulator = try await Simulator()
        let found = try await simulator.gourmet("\(Simulator.spot)&count=3")
        let again = try await simulator.gourmet("id=\(ids(found.shops).joined(separator: ","))")
        #expect(ids(again.shops) == ids(found.shops))
        #expect(again.shops[0]["name"] as? String == found.shops[0]["name"] as? String)
        let unknown = try await simulator.gourmet("id=J000000000")
        #expect(unknown.shops.isEmpty && unknown.code == nil)
        let many = (0..<30).map { _ in ids(found.shops)[0] }.joined(separator: ",")
        #expect(try await simulator.gourmet("id=\(many)&count=100").shops.count == 20)
    }

    @Test func `A lite answer lacks the members that the reference names`() async throws {
        let simulator = try await Simulator()
        let shop = try #require(try await simulator.gourmet("\(Simulator.spot)&type=lite").shops.first)
        #expect(shop["capacity"] == nil && shop["budget"] == nil && shop["mobile_access"] == nil)
        #expect((shop["genre"] as? [String: Any])?["code"] == nil)
        #expect((shop["photo"] as? [String: Any])?.keys.sorted() == ["pc"])
    }

    /// The real API would answer in XML.
    @Test(arguments: ["", "&format=xml", "&format=jsonp"])
    func `A search for anything but JSON is rejected`(format: String) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.get("/hotpepper/gourmet/v1/?key=k&\(Simulator.spot)\(format)")
        #expect(answer.code == 3000)
    }

    @Test(arguments: ["lat=-33.87&lng=151.2", "lat=51.5&lng=-0.12", "lat=0.2&lng=0.2"])
    func `A search outside Japan finds nothing`(spot: String) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.gourmet(spot)
        #expect(answer.results["results_available"] as? Int == 0)
        #expect(answer.results["shop"] is [Any])
    }
}
