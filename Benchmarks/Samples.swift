import Basics
import EventContract
import HTTPTransport
import LocationSearch

/// The inputs of the benchmarks: the same bytes in each run.
enum Samples {
    /// A request as an event in binary mode.
    static let request = ConsumerRecord(
        source: SourcePosition(topic: "location-search.requests", partition: 3, offset: 1234),
        timestamp: WallTime(milliseconds: 1_790_000_000_000), key: Array("user-17".utf8),
        value: Array(
            """
            {"requestId":"5f3c2d6e-8a41-4d38-9f0e-0c2b7a6d1e90","operation":"search","provider":"hotpepper",\
            "category":"restaurant","location":{"latitude":35.690921,"longitude":139.700258},"radiusMeters":1500,\
            "keyword":"ラーメン","language":"ja","limit":20,"sessionId":"session-42","timeoutMs":5000}
            """.utf8),
        headers: [
            RecordHeader("ce_specversion", text: "1.0"), RecordHeader("ce_id", text: "event-1"),
            RecordHeader("ce_source", text: "/app"), RecordHeader("ce_type", text: "location-search.requested.v1"),
            RecordHeader("ce_time", text: "2026-11-23T09:30:00.250Z"),
            RecordHeader("content-type", text: "application/json"),
        ])

    /// The value of the same request in another session, and about another place.
    static func value(session: Int, place: Int = 0) -> [UInt8] {
        Array(
            """
            {"requestId":"5f3c2d6e-8a41-4d38-9f0e-0c2b7a6d1e90","operation":"search","provider":"hotpepper",\
            "category":"restaurant","location":{"latitude":35.\(690_921 + place),"longitude":139.700258},"radiusMeters":1500,\
            "keyword":"ラーメン","language":"ja","limit":20,"sessionId":"session-\(session)","timeoutMs":5000}
            """.utf8)
    }

    /// The same request, decoded.
    static let search = SearchRequest(
        requestID: "5f3c2d6e-8a41-4d38-9f0e-0c2b7a6d1e90", provider: .named(.hotpepper),
        location: Coordinate(latitude: 35.690921, longitude: 139.700258), keyword: "ラーメン", language: "ja",
        sessionID: "session-42")

    /// A Hot Pepper answer in its full form, about 2.4 KB for each shop.
    static func answer(shops: Int) -> HTTPResponse {
        let list = (0..<shops).map(shop).joined(separator: ",")
        let body = """
            {"results":{"api_version":"1.30","results_available":\(shops * 3),"results_returned":"\(shops)",\
            "results_start":1,"shop":[\(list)]}}
            """
        return HTTPResponse(status: 200, body: Array(body.utf8), contentType: "application/json; charset=utf-8")
    }

    private static func shop(_ number: Int) -> String {
        let facts = [
            "band", "barrier_free", "card", "charter", "child", "course", "english", "free_drink", "free_food",
            "horigotatsu", "karaoke", "lunch", "midnight", "non_smoking", "parking", "pet", "private_room", "show",
            "tatami", "tv", "wedding", "wifi",
        ].map { #""\#($0)":"あり ：少人数から団体様までご利用いただけます。""# }

        let picture = "https://img.example.jp/IMGH/68/12/P0100\(number)/P0100\(number)"
        return """
            {"id":"J0099\(100_000 + number % 100_000)","name":"見本酒場 その\(number)","name_kana":"みほんさかば",\
            "address":"東京都架空区みほん町１－２－\(number)　見本ビル１Ｆ","station_name":"架空","ktai_coupon":0,\
            "large_area":{"code":"Z011","name":"東京"},"middle_area":{"code":"Y584","name":"架空"},\
            "lat":35.69\(100 + number % 900),"lng":139.70\(100 + number % 900),\
            "genre":{"catch":"見本の一杯♪","code":"G001","name":"居酒屋"},"sub_genre":{"code":"G013","name":"ラーメン"},\
            "budget":{"average":"3000円 ★飲み放題付","code":"B002","name":"2001～3000円"},"capacity":42,\
            "access":"架空駅南口より徒歩3分／地下鉄架空駅A1出口より徒歩4分","urls":{"pc":"https://www.example.jp/str\(number)/"},\
            "photo":{"mobile":{"l":"\(picture)_168.jpg","s":"\(picture)_100.jpg"},\
            "pc":{"l":"\(picture)_238.jpg","m":"\(picture)_168.jpg","s":"\(picture)_58.jpg"}},\
            "open":"月～金、祝前日: 17:00～23:30 （料理L.O. 22:45 ドリンクL.O. 23:00）",\(facts.joined(separator: ","))}
            """
    }
}
