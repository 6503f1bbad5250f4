internal import JSON

/// A place as the legacy API describes it. Members in alphabetical order, as recorded.
struct LegacyPlace {
    let text: PlaceText
    let ids: PlaceIDs
    let language: PlaceLanguage
    let isOld: Bool

    private var place: SimulatedPlace { text.place }
    private var isLocality: Bool { place.category == Category.localityIndex }
    private var position: PlaceIDs.Place { PlaceIDs.Place(cell: text.cell.id, slot: Int(place.slot)) }
    private var id: String { ids.googleID(position) }

    func searchResult(isText: Bool) -> [UInt8] {
        var json = JSONWriter(capacity: 2048)
        json.beginObject()
        if !isOld { json.member("business_status", status) }
        if isText { json.member("formatted_address", text.address(language)) }
        writeGeometry(&json)
        writeIcon(&json)
        if isOld { json.member("id", obsoleteID) }
        json.member("name", text.googleName(language).text)
        writeHours(&json, isDetailed: false)
        if place.status != .operational { json.member("permanently_closed", true) }
        writePhotos(&json, limit: 1)
        json.member("place_id", id)
        writePlusCode(&json)
        writeRating(&json)
        writeScope(&json)
        json.member("types", place.kind.legacyTypes)
        writeRatingCount(&json)
        if !isText { json.member("vicinity", isLocality ? text.town.city.english : text.vicinity(language)) }
        json.endObject()
        return json.finish()
    }

    func details() -> [UInt8] {
        var numbers = place.numbers(.contact)
        var json = JSONWriter(capacity: 8192)
        json.beginObject()
        writeAddressComponents(&json)
        json.member("adr_address", "<span class=\"street-address\">\(text.vicinity(language))</span>")
        if !isOld { json.member("business_status", status) }
        if place.kind.isFood {
            for (index, name) in ["delivery", "dine_in", "takeout", "serves_beer"].enumerated()
            where place.hash >> (24 + index) & 1 == 0 {
                json.key(name)
                json.value(index > 0)
            }
        }
        if numbers.percent(20) {
            json.key("editorial_summary")
            json.beginObject()
            json.member("language", "ja")
            json.member("overview", numbers.pick(Lexicon.catches))
            json.endObject()
        }
        json.member("formatted_address", text.address(language))
        let phone = text.phoneDigits
        let hasPhone = !isLocality && numbers.percent(85)
        if hasPhone {
            json.member(
                "formatted_phone_number", "\(phone.prefix(2))-\(phone.dropFirst(2).prefix(4))-\(phone.suffix(4))")
        }
        writeGeometry(&json)
        writeIcon(&json)
        if isOld { json.member("id", obsoleteID) }
        if hasPhone {
            json.member(
                "international_phone_number",
                "+81 \(phone.dropFirst().prefix(1))-\(phone.dropFirst(2).prefix(4))-\(phone.suffix(4))")
        }
        json.member("name", text.googleName(language).text)
        writeHours(&json, isDetailed: true)
        if place.status != .operational { json.member("permanently_closed", true) }
        writePhotos(&json, limit: 10)
        json.member("place_id", id)
        writePlusCode(&json)
        writeRating(&json)
        writeReviews(&json)
        writeScope(&json)
        json.member("types", place.kind.legacyTypes)
        json.member("url", "https://maps.google.com/?cid=\(ids.words(position).1)")
        writeRatingCount(&json)
        json.member("utc_offset", text.isInJapan ? 540 : 0)
        json.member("vicinity", text.vicinity(language))
        if numbers.percent(60), !isLocality { json.member("website", "http://shop\(place.hash % 100_000).example/") }
        json.endObject()
        return json.finish()
    }

    // MARK: Members

    /// Areas have none.
    private var status: String? {
        guard !isLocality else { return nil }
        return switch place.status {
        case .operational: "OPERATIONAL"
        case .closedForNow: "CLOSED_TEMPORARILY"
        case .closedForGood: "CLOSED_PERMANENTLY"
        }
    }

    private var obsoleteID: String {
        let digits = Array("0123456789abcdef")
        var numbers = HashStream(place.hash)
        return String((0..<40).map { _ in digits[numbers.next(below: 16)] })
    }

    private func writeGeometry(_ json: inout JSONWriter) {
        json.key("geometry")
        json.beginObject()
        json.key("location")
        json.spot("lat", "lng", place.latitudeE7, place.longitudeE7)
        json.key("viewport")
        json.beginObject()
        let size: Int32 = isLocality ? 300_000 : 13_490
        json.key("northeast")
        json.spot("lat", "lng", place.latitudeE7 &+ size, place.longitudeE7 &+ size)
        json.key("southwest")
        json.spot("lat", "lng", place.latitudeE7 &- size, place.longitudeE7 &- size)
        json.endObject()
        json.endObject()
    }

    private func writeIcon(_ json: inout JSONWriter) {
        let name = isLocality ? "geocode" : place.kind.isFood ? "restaurant" : "generic_business"
        json.member("icon", "https://maps.gstatic.com/mapfiles/place_api/icons/v1/png_71/\(name)-71.png")
        guard !isOld else { return }
        json.member("icon_background_color", place.kind.isFood ? "#FF9E67" : "#7B9EB0")
        json.member("icon_mask_base_uri", "https://maps.gstatic.com/mapfiles/place_api/icons/v2/\(name)_pinlet")
    }

    private func writeHours(_ json: inout JSONWriter, isDetailed: Bool) {
        guard let openNow = place.openNow, place.status != .closedForGood else { return }
        var numbers = place.numbers(.hours)
        json.key("opening_hours")
        json.beginObject()
        if !isDetailed, numbers.percent(4) { return json.endObject() }
        json.member("open_now", openNow)
        if isDetailed {
            let hours = OpeningHours(place)
            json.key("periods")
            json.beginArray()
            for period in hours.periods {
                json.beginObject()
                if let close = period.close {
                    json.key("close")
                    json.beginObject()
                    json.member("day", close.day)
                    json.member("time", close.compact)
                    json.endObject()
                }
                json.key("open")
                json.beginObject()
                json.member("day", period.open.day)
                json.member("time", period.open.compact)
                json.endObject()
                json.endObject()
            }
            json.endArray()
            json.member("weekday_text", hours.weekdays)
        } else if isOld {
            json.key("weekday_text")
            json.beginArray()
            json.endArray()
        }
        json.endObject()
    }

    private func writePhotos(_ json: inout JSONWriter, limit: Int) {
        guard place.photoCount > 0, !isLocality else { return }
        var numbers = place.numbers(.photos)
        json.key("photos")
        json.beginArray()
        for index in 0..<min(place.photoCount, limit) {
            let photo = PhotoReferences.Photo(words: ids.words(position), index: index)
            let author = numbers.pick(Lexicon.authors)
            json.beginObject()
            json.member("height", 600 + numbers.next(below: 3400))
            json.member(
                "html_attributions",
                [
                    "<a href=\"https://maps.google.com/maps/contrib/1\(10_000 + numbers.next(below: 89_999))\">\(author)</a>"
                ])
            json.member("photo_reference", PhotoReferences.reference(photo, seed: ids.seed, isNew: false))
            json.member("width", 800 + numbers.next(below: 3200))
            json.endObject()
        }
        json.endArray()
    }

    private func writePlusCode(_ json: inout JSONWriter) {
        guard !isLocality else { return }
        json.key("plus_code")
        json.beginObject()
        let code = PlusCode(place)
        if text.isInJapan {
            json.member("compound_code", "\(code.local) \(text.town.city.english), \(text.town.prefecture.english)")
        }
        json.member("global_code", code.global)
        json.endObject()
    }

    /// A whole number when it is whole; 0 together with a count of 0 stands for none now and then.
    private func writeRating(_ json: inout JSONWriter) {
        json.member("price_level", place.priceLevel)
        if let tenths = place.ratingTenths {
            json.member("rating", Double(tenths) / 10)
        } else if !isLocality, place.hash & 1 == 0 {
            json.member("rating", 0)
        }
    }

    private func writeRatingCount(_ json: inout JSONWriter) {
        if place.ratingTenths != nil || !isLocality && place.hash & 1 == 0 {
            json.member("user_ratings_total", place.ratingCount)
        }
    }

    private func writeScope(_ json: inout JSONWriter) {
        json.member("reference", id)
        json.member("scope", "GOOGLE")
    }

    private func writeReviews(_ json: inout JSONWriter) {
        guard place.ratingTenths != nil else { return }
        var numbers = place.numbers(.reviews)
        json.key("reviews")
        json.beginArray()
        for _ in 0..<min(5, place.ratingCount) {
            let (review, language) = numbers.pick(Lexicon.reviews)
            json.beginObject()
            json.member("author_name", numbers.pick(Lexicon.authors))
            json.member("language", language)
            json.member("rating", 1 + numbers.next(below: 5))
            json.member("relative_time_description", "a month ago")
            json.member("text", numbers.percent(15) ? "" : review)
            json.member("time", 1_600_000_000 + numbers.next(below: 100_000_000))
            json.endObject()
        }
        json.endArray()
    }

    private func writeAddressComponents(_ json: inout JSONWriter) {
        let isJapanese = language == .japanese
        let town = text.town
        let parts: [(String, [String])] = [
            (isJapanese ? text.district.japanese : text.district.english, ["sublocality", "political"]),
            (isJapanese ? town.city.japanese : town.city.english, ["locality", "political"]),
            (
                isJapanese ? town.prefecture.japanese : town.prefecture.english,
                ["administrative_area_level_1", "political"]
            ),
            (text.isInJapan ? isJapanese ? "日本" : "Japan" : "Elsewhere", ["country", "political"]),
            (text.postalCode, ["postal_code"]),
        ]
        json.key("address_components")
        json.beginArray()
        for (name, types) in parts {
            json.beginObject()
            json.member("long_name", name)
            json.member("short_name", types[0] == "country" && text.isInJapan ? "JP" : name)
            json.member("types", types)
            json.endObject()
        }
        json.endArray()
    }
}

extension JSONWriter {
    mutating func spot(_ latitude: StaticString, _ longitude: StaticString, _ y: Int32, _ x: Int32) {
        beginObject()
        number(latitude, PlaceText.decimal(e7: y))
        number(longitude, PlaceText.decimal(e7: x))
        endObject()
    }
}
