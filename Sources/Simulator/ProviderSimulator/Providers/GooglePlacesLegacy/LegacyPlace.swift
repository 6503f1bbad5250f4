internal import JSON

/// Writes a place in the format of Google's older API, with the members in alphabetical order, as in recordings.
struct LegacyPlace {
    let text: PlaceText
    let ids: PlaceIDs
    let language: PlaceLanguage
    /// True for the format of 2019 (`SimulatorConfiguration.oldVersions`).
    let isOld: Bool

    var place: SimulatedPlace { text.place }
    var isLocality: Bool { place.category == Category.localityIndex }
    var position: PlaceIDs.Place { PlaceIDs.Place(cell: text.cell.id, slot: Int(place.slot)) }
    private var id: String { ids.googleID(position) }

    /// Returns the members that a search result contains.
    func searchResult(isText: Bool) -> [UInt8] {
        JSONWriter.object(capacity: 2048) { json in
            if !isOld { json.member("business_status", status) }
            if isText { json.member("formatted_address", text.address(language)) }
            writeGeometry(to: &json)
            writeIcon(to: &json)
            if isOld { json.member("id", obsoleteID) }
            json.member("name", text.googleName(language).text)
            writeHours(to: &json, isDetailed: false)
            if place.status != .operational { json.member("permanently_closed", true) }
            writePhotos(to: &json, limit: 1)
            json.member("place_id", id)
            writePlusCode(to: &json)
            writeRating(to: &json)
            writeScope(to: &json)
            json.member("types", place.kind.legacyTypes)
            writeRatingCount(to: &json)
            if !isText { json.member("vicinity", isLocality ? text.town.city.english : text.vicinity(language)) }
        }
    }

    /// Returns all members. The `fields` parameter then selects the requested ones.
    func details() -> [UInt8] {
        var numbers = place.numbers(.contact)
        return JSONWriter.object(capacity: 8192) { json in
            writeAddressComponents(to: &json)
            json.member("adr_address", "<span class=\"street-address\">\(text.vicinity(language))</span>")
            if !isOld { json.member("business_status", status) }
            writeServices(to: &json)
            if numbers.percent(20) { writeSummary(using: &numbers, to: &json) }
            json.member("formatted_address", text.address(language))

            let phone = text.phoneDigits
            let hasPhone = !isLocality && numbers.percent(85)
            if hasPhone {
                json.member(
                    "formatted_phone_number", "\(phone.prefix(2))-\(phone.dropFirst(2).prefix(4))-\(phone.suffix(4))")
            }

            writeGeometry(to: &json)
            writeIcon(to: &json)
            if isOld { json.member("id", obsoleteID) }
            if hasPhone {
                json.member(
                    "international_phone_number",
                    "+81 \(phone.dropFirst().prefix(1))-\(phone.dropFirst(2).prefix(4))-\(phone.suffix(4))")
            }

            json.member("name", text.googleName(language).text)
            writeHours(to: &json, isDetailed: true)
            if place.status != .operational { json.member("permanently_closed", true) }
            writePhotos(to: &json, limit: 10)
            json.member("place_id", id)
            writePlusCode(to: &json)
            writeRating(to: &json)
            writeReviews(to: &json)
            writeScope(to: &json)

            json.member("types", place.kind.legacyTypes)
            json.member("url", "https://maps.google.com/?cid=\(ids.words(position).1)")
            writeRatingCount(to: &json)
            json.member("utc_offset", text.isInJapan ? 540 : 0)
            json.member("vicinity", text.vicinity(language))
            if numbers.percent(60), !isLocality {
                json.member("website", "http://shop\(place.hash % 100_000).example/")
            }
        }
    }

    // MARK: Members

    private func writeServices(to json: inout JSONWriter) {
        guard place.kind.isFood else { return }
        for (index, name) in ["delivery", "dine_in", "takeout", "serves_beer"].enumerated()
        where place.hash >> (24 + index) & 1 == 0 {
            json.key(name)
            json.value(index > 0)
        }
    }

    private func writeSummary(using numbers: inout HashStream, to json: inout JSONWriter) {
        json.object("editorial_summary") { json in
            json.member("language", "ja")
            json.member("overview", numbers.pick(Lexicon.catches))
        }
    }

    /// The business status; `nil` for an area.
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

    private func writeGeometry(to json: inout JSONWriter) {
        json.object("geometry") { json in
            json.key("location")
            json.position(of: place, latitude: "lat", longitude: "lng")
            json.object("viewport") { json in
                let size: Int32 = isLocality ? 300_000 : 13_490
                json.key("northeast")
                json.position(of: place, offsetE7: size, latitude: "lat", longitude: "lng")
                json.key("southwest")
                json.position(of: place, offsetE7: -size, latitude: "lat", longitude: "lng")
            }
        }
    }

    private func writeIcon(to json: inout JSONWriter) {
        let name = isLocality ? "geocode" : place.kind.isFood ? "restaurant" : "generic_business"
        json.member("icon", "https://maps.gstatic.com/mapfiles/place_api/icons/v1/png_71/\(name)-71.png")
        guard !isOld else { return }
        json.member("icon_background_color", place.kind.isFood ? "#FF9E67" : "#7B9EB0")
        json.member("icon_mask_base_uri", "https://maps.gstatic.com/mapfiles/place_api/icons/v2/\(name)_pinlet")
    }

    private func writePlusCode(to json: inout JSONWriter) {
        guard !isLocality else { return }
        json.object("plus_code") { json in
            let code = PlusCode(place)
            if text.isInJapan {
                json.member("compound_code", "\(code.local) \(text.town.city.english), \(text.town.prefecture.english)")
            }
            json.member("global_code", code.global)
        }
    }

    /// Writes price level and rating. Some places without a rating have a rating of 0 with a count of 0.
    private func writeRating(to json: inout JSONWriter) {
        json.member("price_level", place.priceLevel)
        if let tenths = place.ratingTenths {
            json.member("rating", Double(tenths) / 10)
        } else if !isLocality, place.hash & 1 == 0 {
            json.member("rating", 0)
        }
    }

    private func writeRatingCount(to json: inout JSONWriter) {
        if place.ratingTenths != nil || !isLocality && place.hash & 1 == 0 {
            json.member("user_ratings_total", place.ratingCount)
        }
    }

    private func writeScope(to json: inout JSONWriter) {
        json.member("reference", id)
        json.member("scope", "GOOGLE")
    }

    private func writeAddressComponents(to json: inout JSONWriter) {
        let isJapanese = language == .japanese
        let town = text.town
        let parts: [(name: String, types: [String])] = [
            (isJapanese ? text.district.japanese : text.district.english, ["sublocality", "political"]),
            (isJapanese ? town.city.japanese : town.city.english, ["locality", "political"]),
            (
                isJapanese ? town.prefecture.japanese : town.prefecture.english,
                ["administrative_area_level_1", "political"]
            ),
            (text.isInJapan ? isJapanese ? "日本" : "Japan" : "Elsewhere", ["country", "political"]),
            (text.postalCode, ["postal_code"]),
        ]
        json.objects("address_components", of: parts) { part, json in
            json.member("long_name", part.name)
            json.member("short_name", part.types[0] == "country" && text.isInJapan ? "JP" : part.name)
            json.member("types", part.types)
        }
    }
}

extension JSONWriter {
    /// Writes a place's coordinate as an object with two members of these names.
    /// - Parameter offsetE7: added to both values, in units of 10^-7 degrees.
    mutating func position(
        of place: SimulatedPlace, offsetE7: Int32 = 0, latitude: StaticString, longitude: StaticString
    ) {
        beginObject()
        number(latitude, digits: PlaceText.decimal(e7: place.latitudeE7 &+ offsetE7))
        number(longitude, digits: PlaceText.decimal(e7: place.longitudeE7 &+ offsetE7))
        endObject()
    }
}
