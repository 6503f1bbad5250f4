internal import JSON

extension GooglePlacesPlace {
    /// Writes the location of the place: addresses, plus code, coordinate and viewport.
    func writePosition(to json: inout JSONWriter) {
        json.member("formattedAddress", text.address(language))
        json.member("shortFormattedAddress", text.vicinity(language))
        json.object("plusCode") { json in
            let code = PlusCode(place)
            json.member("globalCode", code.global)
            if text.isInJapan {
                json.member("compoundCode", "\(code.local) \(text.town.city.english), \(text.town.prefecture.english)")
            }
        }
        json.key("location")
        json.position(of: place, latitude: "latitude", longitude: "longitude")
        json.object("viewport") { json in
            json.key("low")
            json.position(of: place, offsetE7: -13_490, latitude: "latitude", longitude: "longitude")
            json.key("high")
            json.position(of: place, offsetE7: 13_490, latitude: "latitude", longitude: "longitude")
        }
        writeAddressComponents(to: &json)
    }

    private func writeAddressComponents(to json: inout JSONWriter) {
        let isJapanese = language == .japanese && text.isInJapan
        let parts: [(name: String, types: [String])] = [
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
        json.objects("addressComponents", of: parts) { part, json in
            json.member("longText", part.name)
            json.member("shortText", part.name)
            json.member("types", part.types)
            json.member("languageCode", isJapanese ? "ja" : "en")
        }
    }
}
