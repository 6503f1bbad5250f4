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
            let places = result.places.span
            for index in places.indices { value(places, at: index) }
            endArray()
        }
        member("totalAvailable", result.totalAvailable)
        member("nextPageToken", result.nextPageToken)
        member("attributions", result.attributions)
        if let search = result.search { member("search", search) }
    }

    /// Reads each member where it lies: a copy of a place would retain and release all of them.
    private mutating func value(_ places: Span<Place>, at index: Int) {
        beginObject()
        member("id", places[index].id)
        member("provider", places[index].provider.rawValue)
        member("name", places[index].name)
        member("category", places[index].category)
        member("types", places[index].types)
        if let location = places[index].location { member("location", location) }
        // Whole metres: a street address is not known to less.
        member("distanceMeters", places[index].distanceMeters.flatMap(\.wholeMeters))
        member("address", places[index].address)
        member("imageURL", places[index].imageURL)
        member("url", places[index].url)
        member("rating", places[index].rating)
        member("ratingCount", places[index].ratingCount)
        member("priceLevel", places[index].priceLevel)
        member("openNow", places[index].openNow)
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
        member("receivedAt", String(decoding: received, as: UTF8.self))
        member("completedAt", String(decoding: completed, as: UTF8.self))
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
