internal import Basics
internal import JSON
internal import NIOCore

/// Writes a place in Hot Pepper's format.
struct HotpepperShop {
    let text: PlaceText
    let ids: PlaceIDs

    private var place: SimulatedPlace { text.place }

    /// The options of a request that affect how shops are written.
    struct Style {
        let isLite: Bool
        let hasCreditCards: Bool
        let hasSpecials: Bool
        let isTokyoDatum: Bool
        let isOld: Bool

        init(_ query: QueryParameters, isOld: Bool) {
            // A + that is not percent-encoded is decoded as a blank.
            let types = query["type"]?.split { $0 == "+" || $0 == " " || $0 == "," } ?? []
            isLite = types.contains("lite")
            hasCreditCards = types.contains("credit_card")
            hasSpecials = types.contains("special")
            isTokyoDatum = query["datum"] == "tokyo"
            self.isOld = isOld
        }

        var version: String { isOld ? "1.20" : "1.30" }

        /// A number that distinguishes fragments rendered in different styles.
        var rendering: UInt32 {
            0x1000_0000 | (isLite ? 1 : 0) | (hasCreditCards ? 2 : 0) | (hasSpecials ? 4 : 0) | (isTokyoDatum ? 8 : 0)
        }
        static let searchRendering: UInt32 = 0x1000_0010

        /// The members in an answer with `type=lite`. Contrary to the reference, it contains some of these.
        static let lite = FieldMask(
            paths: [
                "id", "name", "address", "lat", "lng", "genre.name", "genre.catch", "catch", "access", "urls.pc",
                "photo.pc", "budget_memo", "other_memo", "shop_detail_memo", "credit_card", "special",
            ])
    }

    func render(in style: Style) -> ByteBuffer {
        var json = JSONWriter(capacity: 4096)
        write(in: style, to: &json)
        let bytes = style.isLite ? Style.lite.applied(to: json.finish()) : json.finish()
        return (style.isOld ? JSONLayout.hotpepperOld : .hotpepper).lay(bytes)
    }

    /// Returns the few members in the result of a shop search.
    func renderForShopSearch() -> ByteBuffer {
        let bytes = JSONWriter.object(capacity: 512) { json in
            json.member("address", text.hotpepperAddress)
            json.member("desc", place.hash >> 5 & 7 == 0 ? "0" : "1")
            json.object("genre") { json in
                json.member("name", place.kind.genre?.name)
            }
            json.member("id", id)
            json.member("name", text.hotpepperName)
            json.member("name_kana", text.kana)
            json.object("urls") { json in
                json.member("pc", page)
            }
        }
        return JSONLayout.hotpepper.lay(bytes)
    }

    private var id: String { ids.hotpepperID(PlaceIDs.Place(cell: text.cell.id, slot: Int(place.slot))) }
    private var page: String { "https://www.hotpepper.jp/str\(id)/?vos=nhppalsa000016" }

    private func write(in style: Style, to json: inout JSONWriter) {
        var numbers = place.numbers(.listing)
        json.beginObject()
        json.member("id", id)
        json.member("name", text.hotpepperName)
        json.member("logo_image", picture(using: &numbers, size: "69", mayBeMissing: true))
        json.member("name_kana", text.kana)
        json.member("address", text.hotpepperAddress)
        json.member("station_name", numbers.percent(4) ? "" : text.station.japanese)
        json.number("ktai_coupon", digits: String(place.couponFlag), asText: style.isOld)
        writeAreas(to: &json)
        writePosition(in: style, to: &json)
        writeGenre(using: &numbers, to: &json)
        writeBudget(using: &numbers, to: &json)
        json.member("catch", numbers.pick(Lexicon.catches))
        json.number("capacity", digits: String(place.capacity), asText: style.isOld)
        writeAccess(using: &numbers, to: &json)
        writeLinks(in: style, using: &numbers, to: &json)
        json.member("open", numbers.pick(Lexicon.openings))
        json.member("close", numbers.pick(Lexicon.closings))
        if let party = place.partyCapacity {
            json.number("party_capacity", digits: String(party), asText: style.isOld)
        } else {
            json.member("party_capacity", "")
        }

        json.member("other_memo", numbers.pick(Lexicon.memos))
        json.member("shop_detail_memo", numbers.pick(Lexicon.memos))
        json.member("budget_memo", numbers.percent(60) ? "お通し代：\(330 + numbers.next(below: 4) * 55)円" : "")
        writeFeatures(using: &numbers, to: &json)
        writeExtras(in: style, using: &numbers, to: &json)
        json.endObject()
    }

    private func writeAreas(to json: inout JSONWriter) {
        let town = text.town
        let small = Town.smallArea(town: text.cell.town, district: text.cell.district)
        let areas: [(StaticString, Town.Area)] = [
            ("large_service_area", town.largeService), ("service_area", town.service), ("large_area", town.large),
            ("middle_area", town.middle), ("small_area", small),
        ]
        for (name, area) in areas {
            json.key(name)
            json.codeAndName((area.code, area.name))
        }
    }

    private func writePosition(in style: Style, to json: inout JSONWriter) {
        guard style.isTokyoDatum else {
            // Recordings have ten decimal places. The last three are noise.
            let noise = String(100 + place.hash >> 4 % 900)
            json.number("lat", digits: Self.padded(place.latitudeE7) + noise, asText: style.isOld)
            json.number("lng", digits: Self.padded(place.longitudeE7) + noise, asText: style.isOld)
            return
        }
        let (latitude, longitude) = Datum.tokyo(fromWorld: (place.latitude, place.longitude))
        json.number("lat", digits: PlaceText.decimal(e7: Int32(saturating: latitude * 1e7)), asText: style.isOld)
        json.number("lng", digits: PlaceText.decimal(e7: Int32(saturating: longitude * 1e7)), asText: style.isOld)
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
        guard numbers.percent(30) else { return }
        let other = numbers.pick(Category.all.compactMap(\.genre))
        json.key("sub_genre")
        json.codeAndName(other)
    }

    private func writeBudget(using numbers: inout HashStream, to json: inout JSONWriter) {
        let budget = HotpepperMasters.budgets[place.budget]
        json.object("budget") { json in
            json.member("code", budget.code)
            json.member("name", budget.name)
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

    private func writeLinks(in style: Style, using numbers: inout HashStream, to json: inout JSONWriter) {
        json.object("urls") { json in
            if style.isOld {
                json.member("mobile", "http://hpr.jp/str\(id)/")
                json.member("qr", "http://hpr.jp/qr/\(id).gif")
            }

            json.member("pc", page)
        }
        let picture = picture(using: &numbers, size: "")
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

    /// Returns the URL of a picture.
    /// - Parameter size: the size in the file name. If it is empty, size and extension are omitted, so that the caller
    ///   can append them.
    private func picture(using numbers: inout HashStream, size: String, mayBeMissing: Bool = false) -> String {
        if mayBeMissing, numbers.percent(6) {
            return "https://imgfp.hotp.jp/SYS/cmn/images/common/diary/custom/m30_img_noimage.gif"
        }
        let number = 30_000_000 + numbers.next(below: 9_999_999)
        let base = "https://imgfp.hotp.jp/IMGH/\(10 + number % 90)/\(10 + number / 100 % 90)/P0\(number)/P0\(number)"
        return size.isEmpty ? base : "\(base)_\(size).jpg"
    }

    private func writeFeatures(using numbers: inout HashStream, to json: inout JSONWriter) {
        json.member("wedding", numbers.pick(Lexicon.memos))
        let flags: [(StaticString, HotpepperFlag, String, String)] = [
            ("course", .course, "あり", "なし"), ("free_drink", .freeDrink, "あり", "なし"),
            ("free_food", .freeFood, "あり", "なし"), ("private_room", .privateRoom, "あり", "なし"),
            ("horigotatsu", .horigotatsu, "あり", "なし"), ("tatami", .tatami, "あり", "なし"),
            ("card", .card, "利用可", "利用不可"), ("non_smoking", .nonSmoking, "全面禁煙", "一部禁煙"),
            ("charter", .charter, "貸切可", "貸切不可"), ("parking", .parking, "あり", "なし"),
            ("barrier_free", .barrierFree, "あり", "なし"), ("show", .show, "あり", "なし"),
            ("karaoke", .karaoke, "あり", "なし"), ("band", .band, "可", "不可"), ("tv", .tv, "あり", "なし"),
            ("lunch", .lunch, "あり", "なし"), ("midnight", .midnight, "営業している", "営業していない"),
            ("english", .english, "あり", "なし"), ("pet", .pet, "可", "不可"), ("child", .child, "お子様連れ歓迎", "お子様連れOK"),
        ]
        for (name, flag, yes, no) in flags where !numbers.percent(3) {
            json.member(name, (place.has(flag) ? yes : no) + numbers.pick(Lexicon.remarks))
        }

        json.member("wifi", numbers.percent(20) ? "未確認" : place.has(.wifi) ? "あり" : "なし")
    }

    private func writeExtras(in style: Style, using numbers: inout HashStream, to json: inout JSONWriter) {
        json.object("coupon_urls") { json in
            json.member("pc", "https://www.hotpepper.jp/str\(id)/map/?vos=nhppalsa000016")
            json.member("sp", "https://www.hotpepper.jp/str\(id)/scoupon/?vos=nhppalsa000016")
        }
        if numbers.percent(5) {
            // Some answers contain an empty member that no reference mentions.
            json.object("food") { json in
            }
        }

        if style.hasCreditCards {
            json.array("credit_card", of: place.creditCards) { card, json in json.codeAndName(card) }
        }

        guard style.hasSpecials else { return }

        json.objects("special", of: place.specials) { special, json in
            json.member("code", special.code)
            json.member("name", special.name)
            json.key("special_category")
            json.codeAndName(HotpepperMasters.specialCategories.first { $0.code == special.category } ?? ("", ""))
            json.member("title", special.name + "★")
        }
    }
}

extension JSONWriter {
    /// Writes a number from its digits.
    /// - Parameters:
    ///   - digits: the number in JSON notation.
    ///   - isText: true to write it in quotes, as an older version of Hot Pepper does.
    mutating func number(_ name: StaticString, digits: String, asText isText: Bool = false) {
        if isText { return member(name, digits) }
        key(name)
        value(json: Array(digits.utf8).span)
    }
}
