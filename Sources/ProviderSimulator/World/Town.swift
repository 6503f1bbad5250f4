/// A town of the simulated world: what addresses, stations and area codes follow from.
struct Town: Sendable {
    struct Station: Sendable {
        let japanese: String
        let english: String
    }
    struct Area: Sendable {
        let code: String
        let name: String
    }

    let prefecture: (japanese: String, english: String)
    let city: (japanese: String, english: String)
    let latitude: Double
    let longitude: Double
    /// The first three digits of its postal codes.
    let postal: String
    let stations: [Station]
    /// Hot Pepper's areas, from the largest down to the middle one; small ones are the districts.
    let largeService: Area
    let service: Area
    let large: Area
    let middle: Area

    private init(
        _ prefecture: (String, String), _ city: (String, String), _ latitude: Double, _ longitude: Double,
        _ postal: String, _ stations: [(String, String)], _ areas: (String, String), _ codes: (Int, Int, Int)
    ) {
        self.prefecture = prefecture
        self.city = city
        (self.latitude, self.longitude, self.postal) = (latitude, longitude, postal)
        self.stations = stations.map { Station(japanese: $0.0, english: $0.1) }
        largeService = Area(code: areas.0, name: areas.1)
        service = Area(code: "SA\(codes.0)", name: Self.short(prefecture.0))
        large = Area(code: "Z\(Self.padded(codes.1))", name: Self.short(prefecture.0))
        middle = Area(code: "Y\(Self.padded(codes.2))", name: stations[0].0)
    }

    /// As Hot Pepper names areas: without 都, 府, 県.
    private static func short(_ prefecture: String) -> String {
        prefecture == "北海道" ? prefecture : String(prefecture.dropLast())
    }

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }

    /// Whether Hot Pepper has shops here: a box around Japan. Its ids have room for no more (see `PlaceIDs`).
    static func isServedByHotpepper(row: Int, column: Int) -> Bool {
        PlaceIDs.hotpepperRows.contains(row) && PlaceIDs.hotpepperColumns.contains(column)
    }

    /// The town that gives a spot its addresses; an index of `all`. Everywhere in Japan the nearest one.
    static func index(latitude: Double, longitude: Double) -> Int {
        guard (20..<46).contains(latitude), (122..<154).contains(longitude) else { return elsewhere }
        var (best, nearest) = (0, Double.infinity)
        for (index, town) in all.enumerated() where index != elsewhere {
            let (y, x) = (town.latitude - latitude, (town.longitude - longitude) * 0.81)
            let distance = y * y + x * x
            if distance < nearest { (best, nearest) = (index, distance) }
        }
        return best
    }

    /// The small area of a quarter: a letter for the town, a number for the quarter.
    static func smallArea(town: Int, district: Int) -> Area {
        let letter = Character(UnicodeScalar(UInt8(truncatingIfNeeded: 65 + town)))
        return Area(code: "X\(letter)\(district + 10)", name: Lexicon.districts[district].japanese)
    }

    static let elsewhere = all.count - 1
    /// At most 32: a bit each in `KeywordMatch`.
    static let all: [Town] = [
        Town(
            ("東京都", "Tokyo"), ("新宿区", "Shinjuku City"), 35.6909, 139.7003, "160",
            [("新宿", "Shinjuku"), ("新宿三丁目", "Shinjuku-sanchome"), ("西新宿", "Nishi-shinjuku")], ("SS10", "関東"),
            (11, 11, 5)),
        Town(
            ("東京都", "Tokyo"), ("渋谷区", "Shibuya City"), 35.6581, 139.7017, "150",
            [("渋谷", "Shibuya"), ("神泉", "Shinsen"), ("恵比寿", "Ebisu")], ("SS10", "関東"), (11, 11, 30)),
        Town(
            ("東京都", "Tokyo"), ("千代田区", "Chiyoda City"), 35.6812, 139.7671, "100",
            [("東京", "Tokyo"), ("神田", "Kanda"), ("有楽町", "Yurakucho")], ("SS10", "関東"), (11, 11, 17)),
        Town(
            ("東京都", "Tokyo"), ("豊島区", "Toshima City"), 35.7295, 139.7109, "171",
            [("池袋", "Ikebukuro"), ("大塚", "Otsuka")], ("SS10", "関東"), (11, 11, 50)),
        Town(
            ("東京都", "Tokyo"), ("台東区", "Taito City"), 35.7138, 139.7770, "110",
            [("上野", "Ueno"), ("浅草", "Asakusa")], ("SS10", "関東"), (11, 11, 60)),
        Town(
            ("神奈川県", "Kanagawa"), ("横浜市西区", "Nishi Ward, Yokohama"), 35.4658, 139.6223, "220",
            [("横浜", "Yokohama"), ("みなとみらい", "Minatomirai")], ("SS10", "関東"), (12, 12, 150)),
        Town(
            ("埼玉県", "Saitama"), ("さいたま市大宮区", "Omiya Ward, Saitama"), 35.9064, 139.6239, "330", [("大宮", "Omiya")],
            ("SS10", "関東"), (13, 13, 170)),
        Town(
            ("大阪府", "Osaka"), ("大阪市北区", "Kita Ward, Osaka"), 34.7025, 135.4959, "530",
            [("梅田", "Umeda"), ("大阪", "Osaka"), ("福島", "Fukushima")], ("SS20", "関西"), (23, 23, 300)),
        Town(
            ("大阪府", "Osaka"), ("大阪市中央区", "Chuo Ward, Osaka"), 34.6660, 135.5010, "542",
            [("難波", "Namba"), ("心斎橋", "Shinsaibashi")], ("SS20", "関西"), (23, 23, 310)),
        Town(
            ("京都府", "Kyoto"), ("京都市下京区", "Shimogyo Ward, Kyoto"), 34.9858, 135.7588, "600",
            [("京都", "Kyoto"), ("四条", "Shijo")], ("SS20", "関西"), (22, 22, 280)),
        Town(
            ("兵庫県", "Hyogo"), ("神戸市中央区", "Chuo Ward, Kobe"), 34.6946, 135.1956, "650",
            [("三宮", "Sannomiya"), ("元町", "Motomachi")], ("SS20", "関西"), (24, 24, 340)),
        Town(
            ("愛知県", "Aichi"), ("名古屋市中村区", "Nakamura Ward, Nagoya"), 35.1709, 136.8815, "450",
            [("名古屋", "Nagoya"), ("栄", "Sakae")], ("SS30", "東海"), (33, 33, 200)),
        Town(
            ("石川県", "Ishikawa"), ("金沢市", "Kanazawa"), 36.5780, 136.6478, "920", [("金沢", "Kanazawa")],
            ("SS50", "北信越"), (63, 63, 560)),
        Town(
            ("宮城県", "Miyagi"), ("仙台市青葉区", "Aoba Ward, Sendai"), 38.2601, 140.8824, "980", [("仙台", "Sendai")],
            ("SS90", "東北"), (52, 52, 450)),
        Town(
            ("北海道", "Hokkaido"), ("札幌市中央区", "Chuo Ward, Sapporo"), 43.0687, 141.3508, "060",
            [("札幌", "Sapporo"), ("すすきの", "Susukino")], ("SS40", "北海道"), (41, 41, 400)),
        Town(
            ("広島県", "Hiroshima"), ("広島市中区", "Naka Ward, Hiroshima"), 34.3955, 132.4596, "730",
            [("紙屋町", "Kamiyacho"), ("広島", "Hiroshima")], ("SS70", "中国"), (74, 74, 600)),
        Town(
            ("福岡県", "Fukuoka"), ("福岡市博多区", "Hakata Ward, Fukuoka"), 33.5897, 130.4207, "812",
            [("博多", "Hakata"), ("天神", "Tenjin"), ("中洲川端", "Nakasu-Kawabata")], ("SS80", "九州・沖縄"), (91, 91, 700)),
        Town(
            ("沖縄県", "Okinawa"), ("那覇市", "Naha"), 26.2124, 127.6792, "900", [("県庁前", "Kencho-mae")],
            ("SS80", "九州・沖縄"), (98, 98, 770)),
        // Anywhere outside Japan; Hot Pepper has no shops there.
        Town(
            ("County", "County"), ("Riverside", "Riverside"), 0, 0, "000", [("Central", "Central")], ("", ""), (0, 0, 0)
        ),
    ]
}
