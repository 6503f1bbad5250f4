/// A town of the simulated world. It determines addresses and stations.
struct Town: Sendable {
    typealias Name = (japanese: String, english: String)

    /// The part of the country, as in Hot Pepper's largest areas.
    let region: String
    let prefecture: Name
    let city: Name
    let latitude: Double
    let longitude: Double
    /// The first three digits of its postal codes.
    let postal: String
    let stations: [Name]

    private init(
        _ region: String, _ prefecture: Name, _ city: Name, at position: (Double, Double), postal: String,
        stations: [Name]
    ) {
        (self.region, self.prefecture, self.city) = (region, prefecture, city)
        (latitude, longitude) = position
        (self.postal, self.stations) = (postal, stations)
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

    /// The index of the entry for all positions outside Japan.
    static let elsewhere = all.count - 1
    /// All towns, at most 32, because `KeywordMatch` has one bit for each. Searches without a position cover the first.
    static let all: [Town] = [
        Town(
            "関東", ("東京都", "Tokyo"), ("新宿区", "Shinjuku City"), at: (35.6909, 139.7003), postal: "160",
            stations: [("新宿", "Shinjuku"), ("新宿三丁目", "Shinjuku-sanchome"), ("西新宿", "Nishi-shinjuku")]),
        Town(
            "関東", ("東京都", "Tokyo"), ("渋谷区", "Shibuya City"), at: (35.6581, 139.7017), postal: "150",
            stations: [("渋谷", "Shibuya"), ("神泉", "Shinsen"), ("恵比寿", "Ebisu")]),
        Town(
            "関東", ("東京都", "Tokyo"), ("千代田区", "Chiyoda City"), at: (35.6812, 139.7671), postal: "100",
            stations: [("東京", "Tokyo"), ("神田", "Kanda"), ("有楽町", "Yurakucho")]),
        Town(
            "関東", ("神奈川県", "Kanagawa"), ("横浜市西区", "Nishi Ward, Yokohama"), at: (35.4658, 139.6223), postal: "220",
            stations: [("横浜", "Yokohama"), ("みなとみらい", "Minatomirai")]),
        Town(
            "関西", ("大阪府", "Osaka"), ("大阪市北区", "Kita Ward, Osaka"), at: (34.7025, 135.4959), postal: "530",
            stations: [("梅田", "Umeda"), ("大阪", "Osaka"), ("福島", "Fukushima")]),
        Town(
            "関西", ("京都府", "Kyoto"), ("京都市下京区", "Shimogyo Ward, Kyoto"), at: (34.9858, 135.7588), postal: "600",
            stations: [("京都", "Kyoto"), ("四条", "Shijo")]),
        Town(
            "東海", ("愛知県", "Aichi"), ("名古屋市中村区", "Nakamura Ward, Nagoya"), at: (35.1709, 136.8815), postal: "450",
            stations: [("名古屋", "Nagoya"), ("栄", "Sakae")]),
        Town(
            "北海道", ("北海道", "Hokkaido"), ("札幌市中央区", "Chuo Ward, Sapporo"), at: (43.0687, 141.3508), postal: "060",
            stations: [("札幌", "Sapporo"), ("すすきの", "Susukino")]),
        Town(
            "九州・沖縄", ("福岡県", "Fukuoka"), ("福岡市博多区", "Hakata Ward, Fukuoka"), at: (33.5897, 130.4207), postal: "812",
            stations: [("博多", "Hakata"), ("天神", "Tenjin"), ("中洲川端", "Nakasu-Kawabata")]),
        // The last entry is for all positions outside Japan, where Hot Pepper has no shops.
        Town("", ("", "County"), ("", "Riverside"), at: (0, 0), postal: "000", stations: [("", "Central")]),
    ]
}
