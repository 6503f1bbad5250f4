internal import JSON
internal import NIOCore

/// Writes a place in Hot Pepper's format.
struct HotpepperShop {
    let text: PlaceText
    let ids: PlaceIDs

    private var place: SimulatedPlace { text.place }
    private var id: String { ids.hotpepperID(text.position) }

    /// The members in an answer with `type=lite`. Contrary to the reference, it contains some of these.
    private static let lite = FieldMask(
        paths: [
            "id", "name", "address", "lat", "lng", "genre.name", "genre.catch", "catch", "access", "urls.pc",
            "photo.pc", "budget_memo", "other_memo", "shop_detail_memo",
        ])

    private static let budgets = [
        ("B009", "～500円"), ("B010", "501～1000円"), ("B011", "1001～1500円"), ("B001", "1501～2000円"),
        ("B002", "2001～3000円"), ("B003", "3001～4000円"), ("B008", "4001～5000円"), ("B004", "5001～7000円"),
        ("B005", "7001～10000円"), ("B006", "10001～15000円"),
    ]

    /// The texts about the features of a shop. The number of a feature is its bit in `SimulatedPlace.features`.
    private static let features: [(name: StaticString, yes: String, no: String)] = [
        ("course", "あり", "なし"), ("private_room", "あり", "なし"), ("card", "利用可", "利用不可"),
        ("non_smoking", "全面禁煙", "一部禁煙"), ("lunch", "あり", "なし"), ("child", "お子様連れ歓迎", "お子様連れOK"),
        ("charter", "貸切可", "貸切不可"), ("parking", "あり", "なし"), ("free_drink", "あり", "なし"),
        ("free_food", "あり", "なし"), ("horigotatsu", "あり", "なし"), ("tatami", "あり", "なし"),
        ("barrier_free", "あり", "なし"), ("show", "あり", "なし"), ("karaoke", "あり", "なし"), ("band", "可", "不可"),
        ("tv", "あり", "なし"), ("midnight", "営業している", "営業していない"), ("english", "あり", "なし"), ("pet", "可", "不可"),
    ]

    func render(isLite: Bool) -> ByteBuffer {
        let json = JSONWriter.object(capacity: 4096) { write(to: &$0) }
        return ByteBuffer(bytes: isLite ? Self.lite.applied(to: json) : json)
    }

    private func write(to json: inout JSONWriter) {
        var numbers = place.numbers(.listing)
        json.member("id", id)
        json.member("name", text.hotpepperName)
        // A place without a logo has the address of a placeholder.
        json.member(
            "logo_image",
            numbers.percent(6)
                ? "https://imgfp.hotp.jp/SYS/cmn/images/common/diary/custom/m30_img_noimage.gif"
                : picture(using: &numbers) + "_69.jpg")
        json.member("name_kana", text.kana)
        json.member("address", text.hotpepperAddress)
        json.member("station_name", numbers.percent(4) ? "" : text.station.japanese)
        json.member("ktai_coupon", Int(place.hash >> 11 & 1))
        writeAreas(to: &json)
        // Recordings have ten decimal places. The last three are noise.
        let noise = String(100 + place.hash >> 4 % 900)
        json.number("lat", digits: Self.padded(place.latitudeE7) + noise)
        json.number("lng", digits: Self.padded(place.longitudeE7) + noise)
        writeGenre(using: &numbers, to: &json)
        writeBudget(using: &numbers, to: &json)
        json.member("catch", numbers.pick(Lexicon.catches))
        json.member("capacity", place.capacity)
        writeAccess(using: &numbers, to: &json)
        writeLinks(using: &numbers, to: &json)
        json.member("open", numbers.pick(Lexicon.openings))
        json.member("close", numbers.pick(Lexicon.closings))
        if let party = place.partyCapacity {
            json.member("party_capacity", party)
        } else {
            json.member("party_capacity", "")
        }

        json.member("other_memo", numbers.pick(Lexicon.memos))
        json.member("shop_detail_memo", numbers.pick(Lexicon.memos))
        json.member("budget_memo", numbers.percent(60) ? "お通し代：\(330 + numbers.next(below: 4) * 55)円" : "")
        json.member("wedding", numbers.pick(Lexicon.memos))
        for (index, feature) in Self.features.enumerated() where !numbers.percent(3) {
            let answer = place.features >> index & 1 == 1 ? feature.yes : feature.no
            json.member(feature.name, answer + numbers.pick(Lexicon.remarks))
        }
        json.member("wifi", numbers.percent(20) ? "未確認" : numbers.percent(66) ? "あり" : "なし")
        json.object("coupon_urls") { json in
            json.member("pc", "https://www.hotpepper.jp/str\(id)/map/?vos=nhppalsa000016")
            json.member("sp", "https://www.hotpepper.jp/str\(id)/scoupon/?vos=nhppalsa000016")
        }
        // Some answers contain an empty member that no reference mentions.
        if numbers.percent(5) { json.object("food") { _ in } }
    }

    private func writeAreas(to json: inout JSONWriter) {
        let (town, number) = (text.town, 10 + text.cell.town)
        json.codeAndName("large_service_area", ("SS\(number)", town.region))
        json.codeAndName("service_area", ("SA\(number)", town.prefecture.japanese))
        json.codeAndName("large_area", ("Z0\(number)", town.prefecture.japanese))
        json.codeAndName("middle_area", ("Y0\(number)", text.station.japanese))
        json.codeAndName("small_area", ("X\(number)\(10 + text.cell.district)", text.district.japanese))
    }

    private static func padded(_ value: Int32) -> String {
        let text = PlaceText.decimal(e7: value)
        let places = text.firstIndex(of: ".").map { text.distance(from: $0, to: text.endIndex) - 1 } ?? -1
        return text + (places < 0 ? "." : "") + String(repeating: "0", count: 7 - max(places, 0))
    }

    private func writeGenre(using numbers: inout HashStream, to json: inout JSONWriter) {
        guard let genre = place.kind.genre else { return }
        json.object("genre") { json in
            json.member("name", genre.name)
            json.member("catch", numbers.percent(5) ? "" : numbers.pick(Lexicon.catches))
            json.member("code", genre.code)
        }
        if numbers.percent(30) { json.codeAndName("sub_genre", numbers.pick(Category.all.compactMap(\.genre))) }
    }

    private func writeBudget(using numbers: inout HashStream, to json: inout JSONWriter) {
        let budget = Self.budgets[place.budget]
        json.object("budget") { json in
            json.member("code", budget.0)
            json.member("name", budget.1)
            json.member(
                "average",
                numbers.percent(6) ? "" : "\(1000 + place.budget * 500)円 ★飲み放題付きコースは\(3000 + place.budget * 500)円～")
        }
    }

    private func writeAccess(using numbers: inout HashStream, to json: inout JSONWriter) {
        let minutes = 1 + numbers.next(below: 12)
        let exit = 1 + numbers.next(below: 9)
        json.member(
            "access",
            "\(text.station.japanese)駅 \(exit)番出口より徒歩\(PlaceText.wide(minutes))分／\(text.district.japanese)交差点すぐ")
        json.member("mobile_access", numbers.percent(5) ? "" : "\(text.station.japanese)駅\(exit)番出口徒歩\(minutes)分 ")
    }

    private func writeLinks(using numbers: inout HashStream, to json: inout JSONWriter) {
        json.object("urls") { json in
            json.member("pc", "https://www.hotpepper.jp/str\(id)/?vos=nhppalsa000016")
        }
        let picture = picture(using: &numbers)
        json.object("photo") { json in
            json.object("pc") { json in
                json.member("l", picture + "_238.jpg")
                json.member("m", picture + "_168.jpg")
                json.member("s", picture + "_58_s.jpg")
            }
            json.object("mobile") { json in
                json.member("l", picture + "_168.jpg")
                json.member("s", picture + "_100.jpg")
            }
        }
    }

    /// Returns the URL of a picture without the size at its end.
    private func picture(using numbers: inout HashStream) -> String {
        let number = 30_000_000 + numbers.next(below: 9_999_999)
        return "https://imgfp.hotp.jp/IMGH/\(10 + number % 90)/\(10 + number / 100 % 90)/P0\(number)/P0\(number)"
    }
}

extension JSONWriter {
    fileprivate mutating func codeAndName(_ member: StaticString, _ entry: (code: String, name: String)) {
        object(member) { json in
            json.member("code", entry.code)
            json.member("name", entry.name)
        }
    }
}
