import Basics
package import JSON
package import LocationSearch

/// Writes the members of outcome events in the contract's order. Unknown values are left out.
extension JSONWriter {
    mutating func members(of result: SearchOutcome.Result, operation: SearchOperation) {
        if operation == .photo {
            key("photo")
            beginObject()
            member("imageURL", result.photoURL)
            endObject()
        } else {
            key("places")
            value(result.places)
        }

        member("totalAvailable", result.totalAvailable)
        member("nextPageToken", result.nextPageToken)
        member("attributions", result.attributions)
        if let search = result.search {
            key("search")
            value(search)
        }
    }

    package mutating func value(_ places: Places) {
        beginArray()
        // A span gives access to the rows without copying them, as there are many.
        let rows = places.rows.span
        for index in rows.indices { value(rows[index], of: places) }
        endArray()
    }

    private mutating func value(_ place: borrowing Places.Row, of places: borrowing Places) {
        beginObject()
        member("id", utf8: places.utf8(place.id))
        member("provider", place.provider.rawValue)
        member("name", utf8: places.utf8(place.name))
        if let category = place.category { member("category", utf8: places.utf8(category)) }

        member("types", place.types, of: places)
        if let location = place.location { member("location", location) }
        // A street address is not accurate to less than a metre.
        member("distanceMeters", place.distanceMeters.flatMap(\.wholeMeters))

        if let address = place.address { member("address", utf8: places.utf8(address)) }
        if let imageURL = place.imageURL { member("imageURL", utf8: places.utf8(imageURL)) }
        if let url = place.url { member("url", utf8: places.utf8(url)) }
        member("rating", place.rating)
        member("ratingCount", place.ratingCount)
        member("priceLevel", place.priceLevel)
        member("openNow", place.openNow)
        if let status = place.business.status { member("businessStatus", status.rawValue) }
        member("openingHours", place.business.openingHours, of: places)
        endObject()
    }

    @inline(__always)
    private mutating func member(_ name: StaticString, _ list: Places.Types, of places: borrowing Places) {
        guard !list.isEmpty else { return }
        let texts = places.texts(in: list)
        key(name)
        beginArray()
        for index in texts.indices { value(utf8: places.utf8(texts[index])) }
        endArray()
    }

    // Inlined, because a key with a name known at compile time is written directly.
    @inline(__always)
    package mutating func member(_ name: StaticString, _ location: Coordinate) {
        key(name)
        value(location)
    }

    private mutating func value(_ location: Coordinate) {
        beginObject()
        member("latitude", location.latitude)
        member("longitude", location.longitude)
        endObject()
    }

    package mutating func value(_ search: SearchOutcome.Search) {
        beginObject()
        member("category", search.category)
        member("location", search.location)
        member("radiusMeters", search.radiusMeters)
        member("categories", search.categories)
        endObject()
    }

    mutating func value(_ error: SearchError, at completed: WallTime) {
        beginObject()
        member("code", error.code.rawValue)
        member("message", error.message)
        member("retryable", error.code.isRetryable)
        // The time is rounded up, so that a sender who waits for it waits long enough.
        member("retryAfterMs", error.retryAfter.map { max(1, $0.milliseconds(roundedUp: true)) })
        // A provider may answer with any three digits; those from 600 are not HTTP statuses.
        member("httpStatus", error.httpStatus.flatMap { (100...599).contains($0) ? $0 : nil })
        member("providerStatus", error.providerStatus)
        member("member", error.member)
        member("limit", error.limit?.rawValue)
        if let account = error.account, let retryAfter = error.retryAfter {
            member("account", account)
            let milliseconds = completed.milliseconds.saturatingAdding(Int64(retryAfter.milliseconds(roundedUp: true)))
            member("opensAt", utf8: WallTime(milliseconds: milliseconds).text.span)
        }
        endObject()
    }

    /// - Parameter completed: the text of the completion time, which the event's headers also contain.
    mutating func timing(_ received: WallTime, _ completed: [UInt8], upstream: Duration, attempts: Int) {
        key("timing")
        beginObject()
        member("receivedAt", utf8: received.text.span)
        member("completedAt", utf8: completed.span)
        member("upstreamMs", max(0, upstream.milliseconds(roundedUp: false)))
        member("attempts", attempts)
        endObject()
    }
}

extension Double {
    /// The number rounded to whole metres; `nil` if it is not a possible distance on earth.
    fileprivate var wholeMeters: Int? {
        guard (0...40_100_000).contains(self) else { return nil }
        return Int(self + 0.5)  // bounded: checked above; saturation would take 120 instructions for each place
    }
}
