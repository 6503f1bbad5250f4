internal import JSON

/// Writes opening hours, photos and reviews.
extension LegacyPlace {
    func writeHours(to json: inout JSONWriter, isDetailed: Bool) {
        guard let openNow = place.openNow, place.status != .closedForGood else { return }

        var numbers = place.numbers(.hours)
        json.key("opening_hours")
        json.beginObject()
        if !isDetailed, numbers.percent(4) { return json.endObject() }
        json.member("open_now", openNow)
        if isDetailed {
            writePeriods(to: &json)
        } else if isOld {
            json.array("weekday_text") { json in
            }
        }

        json.endObject()
    }

    private func writePeriods(to json: inout JSONWriter) {
        let hours = OpeningHours(place)
        json.objects("periods", of: hours.periods) { period, json in
            if let close = period.close { writePoint(close, as: "close", to: &json) }
            writePoint(period.open, as: "open", to: &json)
        }
        json.member("weekday_text", hours.weekdays)
    }

    private func writePoint(_ point: OpeningHours.Point, as name: StaticString, to json: inout JSONWriter) {
        json.object(name) { json in
            json.member("day", point.day)
            json.member("time", point.compact)
        }
    }

    func writePhotos(to json: inout JSONWriter, limit: Int) {
        guard place.photoCount > 0, !isLocality else { return }

        var numbers = place.numbers(.photos)
        json.objects("photos", of: 0..<min(place.photoCount, limit)) { index, json in
            let photo = PhotoReferences.Photo(words: ids.words(position), index: index)
            let author = numbers.pick(Lexicon.authors)
            json.member("height", 600 + numbers.next(below: 3400))
            json.member(
                "html_attributions",
                [
                    "<a href=\"https://maps.google.com/maps/contrib/1\(10_000 + numbers.next(below: 89_999))\">\(author)</a>"
                ])
            json.member("photo_reference", PhotoReferences.reference(to: photo, seed: ids.seed, isNew: false))
            json.member("width", 800 + numbers.next(below: 3200))
        }
    }

    func writeReviews(to json: inout JSONWriter) {
        guard place.ratingTenths != nil else { return }

        var numbers = place.numbers(.reviews)
        json.objects("reviews", of: 0..<min(5, place.ratingCount)) { _, json in
            let (review, language) = numbers.pick(Lexicon.reviews)
            json.member("author_name", numbers.pick(Lexicon.authors))
            json.member("language", language)
            json.member("rating", 1 + numbers.next(below: 5))
            json.member("relative_time_description", "a month ago")
            json.member("text", numbers.percent(15) ? "" : review)
            json.member("time", 1_600_000_000 + numbers.next(below: 100_000_000))
        }
    }
}
