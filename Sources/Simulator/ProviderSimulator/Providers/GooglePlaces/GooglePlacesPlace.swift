internal import JSON

/// Writes a place in the format of Google Places (New), with the members that a worker may request. A field mask then
/// selects the requested ones.
struct GooglePlacesPlace {
    let text: PlaceText
    let ids: PlaceIDs
    let language: PlaceLanguage

    private static let priceLevels = [
        "PRICE_LEVEL_FREE", "PRICE_LEVEL_INEXPENSIVE", "PRICE_LEVEL_MODERATE", "PRICE_LEVEL_EXPENSIVE",
        "PRICE_LEVEL_VERY_EXPENSIVE",
    ]

    private var place: SimulatedPlace { text.place }

    func render() -> [UInt8] {
        let id = ids.googleID(text.position)
        return JSONWriter.object(capacity: 8192) { json in
            json.member("name", "places/\(id)")
            json.member("id", id)
            json.member("types", place.kind.types)
            json.member("formattedAddress", text.address(language))
            json.member("shortFormattedAddress", text.vicinity(language))
            json.key("location")
            json.position(of: place, latitude: "latitude", longitude: "longitude")
            json.member("rating", place.ratingTenths.map { Double($0) / 10 })
            json.member("googleMapsUri", text.mapURL(ids))
            json.member("websiteUri", text.website)
            writeHours(to: &json)
            json.member("businessStatus", text.businessStatus)
            json.member("priceLevel", place.priceLevel.map { Self.priceLevels[$0] })
            json.member("userRatingCount", place.ratingTenths == nil ? nil : place.ratingCount)
            writeNames(to: &json)
            writePhotos(of: id, to: &json)
            writeCredits(to: &json)
        }
    }

    private func writeHours(to json: inout JSONWriter) {
        guard let openNow = place.openNow, place.status != .closedForGood else { return }
        for name: StaticString in ["regularOpeningHours", "currentOpeningHours"] {
            json.object(name) { json in
                json.member("openNow", openNow)
                json.member("weekdayDescriptions", text.openingHours(language))
                json.member(openNow ? "nextCloseTime" : "nextOpenTime", "2026-11-21T14:00:00Z")
            }
        }
    }

    private func writeNames(to json: inout JSONWriter) {
        let name = text.googleName(language)
        json.object("displayName") { json in
            json.member("text", name.text)
            if place.hash % 33 != 0 { json.member("languageCode", name.language) }
        }
        guard place.hasPrimaryType else { return }
        json.member("primaryType", place.kind.primaryType)
        json.object("primaryTypeDisplayName") { json in
            json.member("text", language == .japanese ? place.kind.japanese : place.kind.english)
            json.member("languageCode", language == .japanese ? "ja" : "en-US")
        }
    }

    private func writePhotos(of id: String, to json: inout JSONWriter) {
        guard place.photoCount > 0 else { return }

        var numbers = place.numbers(.photos)
        json.objects("photos", of: 0..<place.photoCount) { index, json in
            let photo = GooglePhoto(words: ids.words(text.position), index: index)
            json.member("name", "places/\(id)/photos/\(photo.reference(seed: ids.seed, filler: 220))")
            json.member("widthPx", 800 + numbers.next(below: 4000))
            json.member("heightPx", 600 + numbers.next(below: 3000))
            json.objects("authorAttributions", of: [100_000_000_000 + numbers.next(below: 899_999_999)]) {
                author, json in
                json.member("displayName", numbers.pick(Lexicon.authors))
                json.member("uri", "https://maps.google.com/maps/contrib/\(author)")
                json.member("photoUri", "https://lh3.googleusercontent.com/a/\(author)=s100-p-k-no-mo")
            }
        }
    }

    /// Writes the third party whose listing the place is, if there is one.
    private func writeCredits(to json: inout JSONWriter) {
        var numbers = place.numbers(.texts)
        guard numbers.percent(5) else { return }
        json.objects("attributions", of: ["https://listings.example/"]) { address, json in
            json.member("provider", "Town Listings")
            json.member("providerUri", address)
        }
    }
}
