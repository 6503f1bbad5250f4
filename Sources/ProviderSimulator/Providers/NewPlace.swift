internal import JSON

/// A place as Google's new API describes it: all of its members; a field mask leaves what was asked for.
struct NewPlace {
    let text: PlaceText
    let ids: PlaceIDs
    let language: PlaceLanguage
    /// A business that goes to its customers: without location and address.
    let isServiceArea: Bool
    let isFuture: Bool

    static let priceLevels = [
        "PRICE_LEVEL_FREE", "PRICE_LEVEL_INEXPENSIVE", "PRICE_LEVEL_MODERATE", "PRICE_LEVEL_EXPENSIVE",
        "PRICE_LEVEL_VERY_EXPENSIVE",
    ]

    private var place: SimulatedPlace { text.place }
    private var isLocality: Bool { place.category == Category.localityIndex }
    private var position: PlaceIDs.Place { PlaceIDs.Place(cell: text.cell.id, slot: Int(place.slot)) }

    func render() -> [UInt8] {
        let id = ids.googleID(position)
        var json = JSONWriter(capacity: 16_384)
        json.beginObject()
        json.member("name", "places/\(id)")
        json.member("id", id)
        json.member("types", place.kind.types)
        writeContact(&json)
        if !isServiceArea { writePosition(&json) }
        if let tenths = place.ratingTenths { json.member("rating", Double(tenths) / 10) }
        json.member("googleMapsUri", "https://maps.google.com/?cid=\(ids.words(position).1)")
        writeHours(&json)
        json.member("utcOffsetMinutes", text.isInJapan ? 540 : nil)
        if !isServiceArea {
            json.member("adrFormatAddress", "<span class=\"street-address\">\(text.vicinity(language))</span>")
        }
        json.member("businessStatus", status)
        if isFuture {
            json.key("openingDate")
            json.beginObject()
            json.member("year", 2027)
            json.member("month", 4)
            json.endObject()
        }
        writePrice(&json)
        if place.ratingTenths != nil { json.member("userRatingCount", place.ratingCount) }
        json.member("iconMaskBaseUri", "https://maps.gstatic.com/mapfiles/place_api/icons/v2/restaurant_pinlet")
        json.member("iconBackgroundColor", "#FF9E67")
        writeNames(&json)
        writeFeatures(&json)
        writeReviews(id, &json)
        writePhotos(id, &json)
        writeEnd(&json)
        json.endObject()
        return json.finish()
    }

    private var status: String? {
        if isFuture { return "FUTURE_OPENING" }
        guard !isLocality else { return nil }
        return switch place.status {
        case .operational: "OPERATIONAL"
        case .closedForNow: "CLOSED_TEMPORARILY"
        case .closedForGood: "CLOSED_PERMANENTLY"
        }
    }

    private func writeContact(_ json: inout JSONWriter) {
        var numbers = place.numbers(.contact)
        if !isLocality, numbers.percent(85) {
            let phone = text.phoneDigits
            json.member("nationalPhoneNumber", "\(phone.prefix(2))-\(phone.dropFirst(2).prefix(4))-\(phone.suffix(4))")
            json.member(
                "internationalPhoneNumber",
                "+81 \(phone.dropFirst().prefix(1))-\(phone.dropFirst(2).prefix(4))-\(phone.suffix(4))")
        }
        if !isLocality, numbers.percent(60) { json.member("websiteUri", "http://shop\(place.hash % 100_000).example/") }
    }

    private func writePosition(_ json: inout JSONWriter) {
        json.member("formattedAddress", text.address(language))
        json.member("shortFormattedAddress", text.vicinity(language))
        json.key("plusCode")
        json.beginObject()
        let code = PlusCode(place)
        json.member("globalCode", code.global)
        if text.isInJapan {
            json.member("compoundCode", "\(code.local) \(text.town.city.english), \(text.town.prefecture.english)")
        }
        json.endObject()
        json.key("location")
        json.spot("latitude", "longitude", place.latitudeE7, place.longitudeE7)
        json.key("viewport")
        json.beginObject()
        json.key("low")
        json.spot("latitude", "longitude", place.latitudeE7 &- 13_490, place.longitudeE7 &- 13_490)
        json.key("high")
        json.spot("latitude", "longitude", place.latitudeE7 &+ 13_490, place.longitudeE7 &+ 13_490)
        json.endObject()
        writeAddressComponents(&json)
    }

    private func writeAddressComponents(_ json: inout JSONWriter) {
        let isJapanese = language == .japanese && text.isInJapan
        let parts: [(String, [String])] = [
            (
                isJapanese ? text.district.japanese : text.district.english,
                ["sublocality_level_2", "sublocality", "political"]
            ),
            (isJapanese ? text.town.city.japanese : text.town.city.english, ["locality", "political"]),
            (
                isJapanese ? text.town.prefecture.japanese : text.town.prefecture.english,
                ["administrative_area_level_1", "political"]
            ),
            (text.postalCode, ["postal_code"]),
        ]
        json.key("addressComponents")
        json.beginArray()
        for (name, types) in parts {
            json.beginObject()
            json.member("longText", name)
            json.member("shortText", name)
            json.member("types", types)
            json.member("languageCode", isJapanese ? "ja" : "en")
            json.endObject()
        }
        json.endArray()
    }

    private func writeHours(_ json: inout JSONWriter) {
        guard let openNow = place.openNow, place.status != .closedForGood, !isFuture else { return }
        let hours = OpeningHours(place)
        json.key("regularOpeningHours")
        json.beginObject()
        json.member("openNow", openNow)
        writePeriods(hours, isCurrent: false, &json)
        json.endObject()
        json.key("currentOpeningHours")
        json.beginObject()
        json.member("openNow", openNow)
        writePeriods(hours, isCurrent: true, &json)
        json.member(openNow ? "nextCloseTime" : "nextOpenTime", "2026-11-21T14:00:00Z")
        json.endObject()
    }

    /// Whoever never closes has a regular period without `close`, and a current one over seven whole days.
    private func writePeriods(_ hours: OpeningHours, isCurrent: Bool, _ json: inout JSONWriter) {
        json.key("periods")
        json.beginArray()
        for period in hours.periods {
            json.beginObject()
            json.key("open")
            writePoint(period.open, isTruncated: isCurrent && hours.isAlwaysOpen, &json)
            let last = OpeningHours.Point(day: 6, hour: 23, minute: 59)
            if let close = period.close ?? (isCurrent ? last : nil) {
                json.key("close")
                writePoint(close, isTruncated: isCurrent && hours.isAlwaysOpen, &json)
            }
            json.endObject()
        }
        json.endArray()
        json.member("weekdayDescriptions", hours.weekdays)
    }

    private func writePoint(_ point: OpeningHours.Point, isTruncated: Bool, _ json: inout JSONWriter) {
        json.beginObject()
        json.member("day", point.day)
        json.member("hour", point.hour)
        json.member("minute", point.minute)
        if isTruncated { json.member("truncated", true) }
        json.endObject()
    }

    private func writePrice(_ json: inout JSONWriter) {
        guard let level = place.priceLevel else { return }
        json.member("priceLevel", Self.priceLevels[level])
        guard level > 0 else { return }
        json.key("priceRange")
        json.beginObject()
        json.key("startPrice")
        writeMoney(level * 1000, &json)
        if place.hash >> 6 & 3 != 0 {
            json.key("endPrice")
            writeMoney(level * 2000, &json)
        }
        json.endObject()
    }

    private func writeMoney(_ amount: Int, _ json: inout JSONWriter) {
        json.beginObject()
        json.member("currencyCode", "JPY")
        json.member("units", String(amount))
        json.endObject()
    }

    private func writeNames(_ json: inout JSONWriter) {
        let name = text.googleName(language)
        json.key("displayName")
        json.beginObject()
        json.member("text", name.text)
        if place.hash % 33 != 0 { json.member("languageCode", name.language) }
        json.endObject()
        guard place.hash % 20 != 3 else { return }
        json.member("primaryType", place.kind.primaryType)
        json.key("primaryTypeDisplayName")
        json.beginObject()
        json.member("text", language == .japanese ? place.kind.japanese : place.kind.english)
        json.member("languageCode", language == .japanese ? "ja" : "en-US")
        json.endObject()
    }

    /// Absent means unknown, not no.
    private func writeFeatures(_ json: inout JSONWriter) {
        guard place.kind.isFood else { return }
        let names: [StaticString] = [
            "takeout", "delivery", "dineIn", "reservable", "servesLunch", "servesDinner", "servesBeer",
            "goodForChildren",
            "outdoorSeating", "allowsDogs", "restroom", "goodForGroups",
        ]
        for (index, name) in names.enumerated() where place.hash >> (8 + index) & 1 == 0 {
            json.key(name)
            json.value(place.hash >> (20 + index) & 1 == 0)
        }
        json.key("accessibilityOptions")
        json.beginObject()
        json.member("wheelchairAccessibleEntrance", place.hash & 2 == 0)
        json.endObject()
    }

    private func writeReviews(_ id: String, _ json: inout JSONWriter) {
        guard place.ratingTenths != nil, place.kind.isFood else { return }
        var numbers = place.numbers(.reviews)
        json.key("reviews")
        json.beginArray()
        for index in 0..<min(5, place.ratingCount) {
            let (review, tag) = numbers.pick(Lexicon.reviews)
            json.beginObject()
            json.member("name", "places/\(id)/reviews/\(Base64URL.encode(mixed(place.hash &+ UInt64(index)).bytes))")
            json.member("relativePublishTimeDescription", language == .japanese ? "1 か月前" : "a month ago")
            json.member("rating", 1 + numbers.next(below: 5))
            if numbers.percent(80) {
                for name: StaticString in ["text", "originalText"] {
                    json.key(name)
                    json.beginObject()
                    json.member("text", review)
                    json.member("languageCode", tag)
                    json.endObject()
                }
            }
            writeAuthor("authorAttribution", &numbers, &json)
            json.member(
                "publishTime", "2026-0\(1 + numbers.next(below: 9))-1\(numbers.next(below: 10))T03:04:05.123456Z")
            json.endObject()
        }
        json.endArray()
    }

    private func writeAuthor(_ name: StaticString?, _ numbers: inout HashStream, _ json: inout JSONWriter) {
        if let name { json.key(name) }
        let number = 100_000_000_000 + numbers.next(below: 899_999_999)
        json.beginObject()
        json.member("displayName", numbers.pick(Lexicon.authors))
        json.member("uri", "https://maps.google.com/maps/contrib/\(number)")
        json.member("photoUri", "https://lh3.googleusercontent.com/a/\(number)=s100-p-k-no-mo")
        json.endObject()
    }

    private func writePhotos(_ id: String, _ json: inout JSONWriter) {
        guard place.photoCount > 0, !isLocality else { return }
        var numbers = place.numbers(.photos)
        json.key("photos")
        json.beginArray()
        for index in 0..<place.photoCount {
            let photo = PhotoReferences.Photo(words: ids.words(position), index: index)
            json.beginObject()
            json.member("name", "places/\(id)/photos/\(PhotoReferences.reference(photo, seed: ids.seed, isNew: true))")
            json.member("widthPx", 800 + numbers.next(below: 4000))
            json.member("heightPx", 600 + numbers.next(below: 3000))
            json.key("authorAttributions")
            json.beginArray()
            writeAuthor(nil, &numbers, &json)
            json.endArray()
            let image = Base64URL.encode(mixed(place.hash &+ UInt64(index) << 8).bytes)
            json.member(
                "flagContentUri",
                "https://www.google.com/local/imagery/report/?cb_client=maps_api_places.places_api&image_key=!1e10!2s\(image)&hl=ja"
            )
            json.member("googleMapsUri", "https://www.google.com/maps/place//data=!3m4!1e2!3m2!1s\(image)!2e10")
            json.endObject()
        }
        json.endArray()
    }

    private func writeEnd(_ json: inout JSONWriter) {
        var numbers = place.numbers(.texts)
        if numbers.percent(5) {
            json.key("attributions")
            json.beginArray()
            json.beginObject()
            json.member("provider", "Town Listings")
            json.member("providerUri", "https://listings.example/")
            json.endObject()
            json.endArray()
        }
        if place.kind.isFood, numbers.percent(20) {
            json.key("editorialSummary")
            json.beginObject()
            json.member("text", numbers.pick(Lexicon.catches))
            json.member("languageCode", "ja")
            json.endObject()
        }
        json.key("postalAddress")
        json.beginObject()
        json.member("regionCode", text.isInJapan ? "JP" : nil)
        json.member("postalCode", text.postalCode)
        json.endObject()
        json.key("timeZone")
        json.beginObject()
        json.member("id", text.isInJapan ? "Asia/Tokyo" : "Etc/UTC")
        json.endObject()
    }
}
