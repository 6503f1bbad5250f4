internal import JSON

/// Writes a place in the format of Google Places (New), with all members. A field mask then selects the requested ones.
struct GooglePlacesPlace {
    let text: PlaceText
    let ids: PlaceIDs
    let language: PlaceLanguage
    /// True for a business that visits its customers, which has neither location nor address.
    let isServiceArea: Bool
    /// True for a business that has not opened yet.
    let isFuture: Bool

    static let priceLevels = [
        "PRICE_LEVEL_FREE", "PRICE_LEVEL_INEXPENSIVE", "PRICE_LEVEL_MODERATE", "PRICE_LEVEL_EXPENSIVE",
        "PRICE_LEVEL_VERY_EXPENSIVE",
    ]

    var place: SimulatedPlace { text.place }
    var isLocality: Bool { place.category == Category.localityIndex }
    var position: PlaceIDs.Place { PlaceIDs.Place(cell: text.cell.id, slot: Int(place.slot)) }

    func render() -> [UInt8] {
        let id = ids.googleID(position)
        return JSONWriter.object(capacity: 16_384) { json in
            json.member("name", "places/\(id)")
            json.member("id", id)
            json.member("types", place.kind.types)
            writeContact(to: &json)
            if !isServiceArea { writePosition(to: &json) }
            if let tenths = place.ratingTenths { json.member("rating", Double(tenths) / 10) }
            json.member("googleMapsUri", "https://maps.google.com/?cid=\(ids.words(position).1)")
            writeHours(to: &json)
            json.member("utcOffsetMinutes", text.isInJapan ? 540 : nil)
            if !isServiceArea {
                json.member("adrFormatAddress", "<span class=\"street-address\">\(text.vicinity(language))</span>")
            }

            json.member("businessStatus", status)
            if isFuture {
                json.object("openingDate") { json in
                    json.member("year", 2027)
                    json.member("month", 4)
                }
            }

            writePrice(to: &json)
            if place.ratingTenths != nil { json.member("userRatingCount", place.ratingCount) }
            json.member("iconMaskBaseUri", "https://maps.gstatic.com/mapfiles/place_api/icons/v2/restaurant_pinlet")
            json.member("iconBackgroundColor", "#FF9E67")
            writeNames(to: &json)
            writeFeatures(to: &json)
            writeReviews(of: id, to: &json)
            writePhotos(of: id, to: &json)
            writeExtras(to: &json)
        }
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

    private func writeContact(to json: inout JSONWriter) {
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

    private func writePrice(to json: inout JSONWriter) {
        guard let level = place.priceLevel else { return }
        json.member("priceLevel", Self.priceLevels[level])
        guard level > 0 else { return }
        json.object("priceRange") { json in
            json.key("startPrice")
            writeMoney(level * 1000, to: &json)
            if place.hash >> 6 & 3 != 0 {
                json.key("endPrice")
                writeMoney(level * 2000, to: &json)
            }
        }
    }

    private func writeMoney(_ amount: Int, to json: inout JSONWriter) {
        json.beginObject()
        json.member("currencyCode", "JPY")
        json.member("units", String(amount))
        json.endObject()
    }

    private func writeNames(to json: inout JSONWriter) {
        let name = text.googleName(language)
        json.object("displayName") { json in
            json.member("text", name.text)
            if place.hash % 33 != 0 { json.member("languageCode", name.language) }
        }
        guard place.hash % 20 != 3 else { return }
        json.member("primaryType", place.kind.primaryType)
        json.object("primaryTypeDisplayName") { json in
            json.member("text", language == .japanese ? place.kind.japanese : place.kind.english)
            json.member("languageCode", language == .japanese ? "ja" : "en-US")
        }
    }

    /// Writes the boolean members. A missing member means "unknown", not "no".
    private func writeFeatures(to json: inout JSONWriter) {
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

        json.object("accessibilityOptions") { json in
            json.member("wheelchairAccessibleEntrance", place.hash & 2 == 0)
        }
    }

    private func writeExtras(to json: inout JSONWriter) {
        var numbers = place.numbers(.texts)
        if numbers.percent(5) {
            json.array("attributions") { json in
                json.beginObject()
                json.member("provider", "Town Listings")
                json.member("providerUri", "https://listings.example/")
                json.endObject()
            }
        }

        if place.kind.isFood, numbers.percent(20) {
            json.object("editorialSummary") { json in
                json.member("text", numbers.pick(Lexicon.catches))
                json.member("languageCode", "ja")
            }
        }

        json.object("postalAddress") { json in
            json.member("regionCode", text.isInJapan ? "JP" : nil)
            json.member("postalCode", text.postalCode)
        }
        json.object("timeZone") { json in
            json.member("id", text.isInJapan ? "Asia/Tokyo" : "Etc/UTC")
        }
    }
}
