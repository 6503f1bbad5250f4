internal import Basics
internal import JSON

extension GooglePlacesPlace {
    /// Writes up to five reviews. A place without a rating has none.
    func writeReviews(of id: String, to json: inout JSONWriter) {
        guard place.ratingTenths != nil, place.kind.isFood else { return }

        var numbers = place.numbers(.reviews)
        json.objects("reviews", of: 0..<min(5, place.ratingCount)) { index, json in
            let (review, tag) = numbers.pick(Lexicon.reviews)
            json.member(
                "name", "places/\(id)/reviews/\(Base64.encode(mixed(place.hash &+ UInt64(index)).bytes, as: .url))")
            json.member("relativePublishTimeDescription", language == .japanese ? "1 か月前" : "a month ago")
            json.member("rating", 1 + numbers.next(below: 5))
            if numbers.percent(80) {
                for name: StaticString in ["text", "originalText"] {
                    json.object(name) { json in
                        json.member("text", review)
                        json.member("languageCode", tag)
                    }
                }
            }
            json.key("authorAttribution")
            writeAuthor(using: &numbers, to: &json)
            json.member(
                "publishTime", "2026-0\(1 + numbers.next(below: 9))-1\(numbers.next(below: 10))T03:04:05.123456Z")
        }
    }

    private func writeAuthor(using numbers: inout HashStream, to json: inout JSONWriter) {
        let number = 100_000_000_000 + numbers.next(below: 899_999_999)
        json.beginObject()
        json.member("displayName", numbers.pick(Lexicon.authors))
        json.member("uri", "https://maps.google.com/maps/contrib/\(number)")
        json.member("photoUri", "https://lh3.googleusercontent.com/a/\(number)=s100-p-k-no-mo")
        json.endObject()
    }

    func writePhotos(of id: String, to json: inout JSONWriter) {
        guard place.photoCount > 0, !isLocality else { return }

        var numbers = place.numbers(.photos)
        json.objects("photos", of: 0..<place.photoCount) { index, json in
            let photo = PhotoReferences.Photo(words: ids.words(position), index: index)
            json.member(
                "name", "places/\(id)/photos/\(PhotoReferences.reference(to: photo, seed: ids.seed, isNew: true))")
            json.member("widthPx", 800 + numbers.next(below: 4000))
            json.member("heightPx", 600 + numbers.next(below: 3000))
            json.array("authorAttributions") { json in
                writeAuthor(using: &numbers, to: &json)
            }
            let image = Base64.encode(mixed(place.hash &+ UInt64(index) << 8).bytes, as: .url)
            json.member(
                "flagContentUri",
                "https://www.google.com/local/imagery/report/?cb_client=maps_api_places.places_api&image_key=!1e10!2s\(image)&hl=ja"
            )
            json.member("googleMapsUri", "https://www.google.com/maps/place//data=!3m4!1e2!3m2!1s\(image)!2e10")
        }
    }
}
