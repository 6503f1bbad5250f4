import JSON
import LocationSearch

/// The members of outcome events, in the contract's order. What is not known is left out.
extension JSONWriter {
    mutating func members(of result: SearchOutcome.Result, operation: SearchOperation) {
        if operation == .photo {
            key("photo")
            beginObject()
            member("imageURL", result.photoURL)
            endObject()
        } else {
            key("places")
            beginArray()
            // Neither a copy of each row nor one of its types: there are many.
            let rows = result.places.rows.span
            for index in rows.indices { value(rows[index], of: result.places) }
            endArray()
        }
        member("totalAvailable", result.totalAvailable)
        member("nextPageToken", result.nextPageToken)
        member("attributions", result.attributions)
        if let search = result.search { member("search", search) }
    }

    private mutating func value(_ place: borrowing Places.Row, of places: borrowing Places) {
        beginObject()
        member("id", utf8: places.utf8(place.id))
        member("provider", place.provider.rawValue)
        member("name", utf8: places.utf8(place.name))
        if let category = place.category { member("category", utf8: places.utf8(category)) }
        let types = places.types(of: place)
        if !types.isEmpty {
            key("types")
            beginArray()
            for index in types.indices { value(utf8: places.utf8(types[index])) }
            endArray()
        }
        if let location = place.location { member("location", location) }
        // Whole metres: a street address is not known to less.
        member("distanceMeters", place.distanceMeters.flatMap(\.wholeMeters))
        if let address = place.address { member("address", utf8: places.utf8(address)) }
        if let imageURL = place.imageURL { member("imageURL", utf8: places.utf8(imageURL)) }
        if let url = place.url { member("url", utf8: places.utf8(url)) }
        member("rating", place.rating)
        member("ratingCount", place.ratingCount)
        member("priceLevel", place.priceLevel)
        member("openNow", place.openNow)
        endObject()
    }

    mutating func member(_ name: StaticString, _ location: Coordinate) {
        key(name)
        beginObject()
        member("latitude", location.latitude)
        member("longitude", location.longitude)
        endObject()
    }

    private mutating func member(_ name: StaticString, _ search: SearchOutcome.Search) {
        key(name)
        beginObject()
        member("category", search.category)
        member("location", search.location)
        member("radiusMeters", search.radiusMeters)
        endObject()
    }

    mutating func member(_ name: StaticString, _ error: SearchError) {
        key(name)
        beginObject()
        member("code", error.code.rawValue)
        member("message", error.message)
        member("retryable", error.code.isRetryable)
        // Rounded up, so that who waits so long has waited long enough.
        member("retryAfterMs", error.retryAfter.map { max(1, $0.milliseconds(roundedUp: true)) })
        member("httpStatus", error.httpStatus)
        member("providerStatus", error.providerStatus)
        member("member", error.member)
        endObject()
    }

    mutating func timing(_ received: [UInt8], _ completed: [UInt8], upstream: Duration, attempts: Int) {
        key("timing")
        beginObject()
        member("receivedAt", utf8: received.span)
        member("completedAt", utf8: completed.span)
        member("upstreamMs", max(0, upstream.milliseconds(roundedUp: false)))
        member("attempts", attempts)
        endObject()
    }
}

extension Duration {
    /// Whole milliseconds; what lies beyond `Int` is the nearest that does not.
    func milliseconds(roundedUp: Bool) -> Int {
        let (seconds, attoseconds) = components
        let (whole, overflow) = Int(clamping: seconds).multipliedReportingOverflow(by: 1000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (part, rest) = Int(attoseconds).quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
        return whole + part + (roundedUp && rest > 0 ? 1 : 0)
    }
}

extension Double {
    /// Rounded; `nil` for what is no distance on earth.
    fileprivate var wholeMeters: Int? { (0...40_100_000).contains(self) ? Int(self + 0.5) : nil }
}
