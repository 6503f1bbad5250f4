internal import JSON

/// Writes a place in the format of Google's older API, with the members in alphabetical order, as in recordings.
struct LegacyPlace {
    let text: PlaceText
    let ids: PlaceIDs
    let language: PlaceLanguage

    private var place: SimulatedPlace { text.place }

    /// Returns the members of a search result, or those of the details of a place, from which the `fields` parameter
    /// selects.
    func render(isDetailed: Bool) -> [UInt8] {
        let id = ids.googleID(text.position)
        return JSONWriter.object(capacity: 4096) { json in
            json.member("business_status", text.businessStatus)
            if isDetailed { json.member("formatted_address", text.address(language)) }
            writeGeometry(to: &json)
            let icon = place.kind.isFood ? "restaurant" : "generic_business"
            json.member("icon", "https://maps.gstatic.com/mapfiles/place_api/icons/v1/png_71/\(icon)-71.png")
            json.member("icon_background_color", place.kind.isFood ? "#FF9E67" : "#7B9EB0")
            json.member("icon_mask_base_uri", "https://maps.gstatic.com/mapfiles/place_api/icons/v2/\(icon)_pinlet")
            json.member("name", text.googleName(language).text)
            writeHours(isDetailed: isDetailed, to: &json)
            if place.status != .operational { json.member("permanently_closed", true) }
            writePhotos(limit: isDetailed ? 10 : 1, to: &json)
            json.member("place_id", id)
            json.member("price_level", place.priceLevel)
            writeRating(to: &json)
            json.member("reference", id)
            json.member("scope", "GOOGLE")
            json.member("types", place.kind.legacyTypes)
            if isDetailed { json.member("url", text.mapURL(ids)) }
            if isRated { json.member("user_ratings_total", place.ratingCount) }
            json.member("vicinity", text.vicinity(language))
            if isDetailed { json.member("website", text.website) }
        }
    }

    private func writeGeometry(to json: inout JSONWriter) {
        json.object("geometry") { json in
            json.key("location")
            json.position(of: place, latitude: "lat", longitude: "lng")
            json.object("viewport") { json in
                let size: Int32 = 13_490
                json.key("northeast")
                json.position(of: place, offsetE7: size, latitude: "lat", longitude: "lng")
                json.key("southwest")
                json.position(of: place, offsetE7: -size, latitude: "lat", longitude: "lng")
            }
        }
    }

    /// Writes the opening hours. In some search results they are empty.
    private func writeHours(isDetailed: Bool, to json: inout JSONWriter) {
        guard let openNow = place.openNow, place.status != .closedForGood else { return }
        var numbers = place.numbers(.hours)
        let isEmpty = !isDetailed && numbers.percent(4)
        json.object("opening_hours") { json in
            json.member("open_now", isEmpty ? nil : openNow)
            if isDetailed { json.member("weekday_text", text.openingHours(language)) }
        }
    }

    private func writePhotos(limit: Int, to json: inout JSONWriter) {
        guard place.photoCount > 0 else { return }

        var numbers = place.numbers(.photos)
        json.objects("photos", of: 0..<min(place.photoCount, limit)) { index, json in
            let photo = GooglePhoto(words: ids.words(text.position), index: index)
            let author = numbers.pick(Lexicon.authors)
            json.member("height", 600 + numbers.next(below: 3400))
            json.member(
                "html_attributions",
                [
                    "<a href=\"https://maps.google.com/maps/contrib/1\(10_000 + numbers.next(below: 89_999))\">\(author)</a>"
                ])
            json.member("photo_reference", photo.reference(seed: ids.seed, filler: 150))
            json.member("width", 800 + numbers.next(below: 3200))
        }
    }

    /// Some places without a rating have a rating of 0 with a count of 0.
    private var isRated: Bool { place.ratingTenths != nil || place.hash & 1 == 0 }

    private func writeRating(to json: inout JSONWriter) {
        guard isRated else { return }
        json.member("rating", Double(place.ratingTenths ?? 0) / 10)
    }
}
