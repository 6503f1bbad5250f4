/// A town of the simulated world. It determines addresses, stations and area codes.
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
    /// Hot Pepper's areas, from the largest to the middle level. Its small areas are the town's quarters.
    let largeService: Area
    let service: Area
    let large: Area
    let middle: Area

    private init(
        _ prefecture: (String, String), _ city: (String, String), at position: (Double, Double), postal: String,
        stations: [(String, String)], areas: (String, String), codes: (Int, Int, Int)
    ) {
        self.prefecture = prefecture
        self.city = city
        (latitude, longitude) = position
        self.postal = postal
        self.stations = stations.map { Station(japanese: $0.0, english: $0.1) }
        largeService = Area(code: areas.0, name: areas.1)
        service = Area(code: "SA\(codes.0)", name: Self.short(prefecture.0))
        large = Area(code: "Z\(Self.padded(codes.1))", name: Self.short(prefecture.0))
        middle = Area(code: "Y\(Self.padded(codes.2))", name: stations[0].0)
    }

    /// Returns a prefecture's name as in Hot Pepper's areas, without 都, 府 or 県.
    private static func short(_ prefecture: String) -> String {
        prefecture == "北海道" ? prefecture : String(prefecture.dropLast())
    }

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }

    /// Returns the town for the addresses at a position, as an index of `all`. In Japan this is the nearest town.
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

    /// Returns the small area of a quarter. Its code contains a letter for the town and a number for the quarter.
    static func smallArea(town: Int, district: Int) -> Area {
        let letter = Character(UnicodeScalar(UInt8(truncatingIfNeeded: 65 + town)))
        return Area(code: "X\(letter)\(district + 10)", name: Lexicon.districts[district].japanese)
    }

    /// The index of the entry for all positions outside Japan.
    static let elsewhere = all.count - 1
    /// All towns, at most 32, because `KeywordMatch` has one bit for each.
    static let all: [Town] = [
        Town(
            ("東京都", "Tokyo"), ("新宿区", "Shinjuku City"), at: (35.6909, 139.7003), postal: "160",
            stations: [("新宿", "Shinjuku"), ("新宿三丁目", "Shinjuku-sanchome"), ("西新宿", "Nishi-shinjuku")],
            areas: ("SS10", "関東"), codes: (11, 11, 5)),
        Town(
            ("東京都", "Tokyo"), ("渋谷区", "Shibuya City"), at: (35.6581, 139.7017), postal: "150",
            stations: [("渋谷", "Shibuya"), ("神泉", "Shinsen"), ("恵比寿", "Ebisu")], areas: ("SS10", "関東"),
            codes: (11, 11, 30)),
        Town(
            ("東京都", "Tokyo"), ("千代田区", "Chiyoda City"), at: (35.6812, 139.7671), postal: "100",
            stations: [("東京", "Tokyo"), ("神田", "Kanda"), ("有楽町", "Yurakucho")], areas: ("SS10", "関東"),
            codes: (11, 11, 17)),
        Town(
            ("東京都", "Tokyo"), ("豊島区", "Toshima City"), at: (35.7295, 139.7109), postal: "171",
            stations: [("池袋", "Ikebukuro"), ("大塚", "Otsuka")], areas: ("SS10", "関東"), codes: (11, 11, 50)),
        Town(
            ("東京都", "Tokyo"), ("台東区", "Taito City"), at: (35.7138, 139.7770), postal: "110",
            stations: [("上野", "Ueno"), ("浅草", "Asakusa")], areas: ("SS10", "関東"), codes: (11, 11, 60)),
        Town(
            ("神奈川県", "Kanagawa"), ("横浜市西区", "Nishi Ward, Yokohama"), at: (35.4658, 139.6223), postal: "220",
            stations: [("横浜", "Yokohama"), ("みなとみらい", "Minatomirai")], areas: ("SS10", "関東"), codes: (12, 12, 150)),
        Town(
            ("埼玉県", "Saitama"), ("さいたま市大宮区", "Omiya Ward, Saitama"), at: (35.9064, 139.6239), postal: "330",
            stations: [("大宮", "Omiya")], areas: ("SS10", "関東"), codes: (13, 13, 170)),
        Town(
            ("大阪府", "Osaka"), ("大阪市北区", "Kita Ward, Osaka"), at: (34.7025, 135.4959), postal: "530",
            stations: [("梅田", "Umeda"), ("大阪", "Osaka"), ("福島", "Fukushima")], areas: ("SS20", "関西"),
            codes: (23, 23, 300)),
        Town(
            ("大阪府", "Osaka"), ("大阪市中央区", "Chuo Ward, Osaka"), at: (34.6660, 135.5010), postal: "542",
            stations: [("難波", "Namba"), ("心斎橋", "Shinsaibashi")], areas: ("SS20", "関西"), codes: (23, 23, 310)),
        Town(
            ("京都府", "Kyoto"), ("京都市下京区", "Shimogyo Ward, Kyoto"), at: (34.9858, 135.7588), postal: "600",
            stations: [("京都", "Kyoto"), ("四条", "Shijo")], areas: ("SS20", "関西"), codes: (22, 22, 280)),
        Town(
            ("兵庫県", "Hyogo"), ("神戸市中央区", "Chuo Ward, Kobe"), at: (34.6946, 135.1956), postal: "650",
            stations: [("三宮", "Sannomiya"), ("元町", "Motomachi")], areas: ("SS20", "関西"), codes: (24, 24, 340)),
        Town(
            ("愛知県", "Aichi"), ("名古屋市中村区", "Nakamura Ward, Nagoya"), at: (35.1709, 136.8815), postal: "450",
            stations: [("名古屋", "Nagoya"), ("栄", "Sakae")], areas: ("SS30", "東海"), codes: (33, 33, 200)),
        Town(
            ("石川県", "Ishikawa"), ("金沢市", "Kanazawa"), at: (36.5780, 136.6478), postal: "920",
            stations: [("金沢", "Kanazawa")], areas: ("SS50", "北信越"), codes: (63, 63, 560)),
        Town(
            ("宮城県", "Miyagi"), ("仙台市青葉区", "Aoba Ward, Sendai"), at: (38.2601, 140.8824), postal: "980",
            stations: [("仙台", "Sendai")], areas: ("SS90", "東北"), codes: (52, 52, 450)),
        Town(
            ("北海道", "Hokkaido"), ("札幌市中央区", "Chuo Ward, Sapporo"), at: (43.0687, 141.3508), postal: "060",
            stations: [("札幌", "Sapporo"), ("すすきの", "Susukino")], areas: ("SS40", "北海道"), codes: (41, 41, 400)),
        Town(
            ("広島県", "Hiroshima"), ("広島市中区", "Naka Ward, Hiroshima"), at: (34.3955, 132.4596), postal: "730",
            stations: [("紙屋町", "Kamiyacho"), ("広島", "Hiroshima")], areas: ("SS70", "中国"), codes: (74, 74, 600)),
        Town(
            ("福岡県", "Fukuoka"), ("福岡市博多区", "Hakata Ward, Fukuoka"), at: (33.5897, 130.4207), postal: "812",
            stations: [("博多", "Hakata"), ("天神", "Tenjin"), ("中洲川端", "Nakasu-Kawabata")], areas: ("SS80", "九州・沖縄"),
            codes: (91, 91, 700)),
        Town(
            ("沖縄県", "Okinawa"), ("那覇市", "Naha"), at: (26.2124, 127.6792), postal: "900",
            stations: [("県庁前", "Kencho-mae")], areas: ("SS80", "九州・沖縄"), codes: (98, 98, 770)),
        // The last entry is for all positions outside Japan, where Hot Pepper has no shops.
        Town(
            ("County", "County"), ("Riverside", "Riverside"), at: (0, 0), postal: "000",
            stations: [("Central", "Central")], areas: ("", ""), codes: (0, 0, 0)),
    ]
}
