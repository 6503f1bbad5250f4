import JSON
import LocationSearch

/// Reads the values in outcome events. A value of another type is skipped and read as `nil`.
extension JSONReader {
    mutating func strings() throws(JSONError) -> [String] {
        var strings: [String] = []
        guard try enterArray() else { return strings }
        while try nextElement() {
            if let string = try string() { strings.append(string) }
        }
        return strings
    }

    mutating func time() throws(JSONError) -> WallTime? {
        try string().flatMap { WallTime(rfc3339: Array($0.utf8)) }
    }

    mutating func coordinate() throws(JSONError) -> Coordinate? {
        var (latitude, longitude) = (nil as Double?, nil as Double?)
        guard try enterObject() else { return nil }
        while let key = try nextKey() {
            switch key {
            case "latitude": latitude = try double()
            case "longitude": longitude = try double()
            default: try skip()
            }
        }
        guard let latitude, let longitude else { return nil }
        let coordinate = Coordinate(latitude: latitude, longitude: longitude)
        return coordinate.isValid ? coordinate : nil
    }

    mutating func search() throws(JSONError) -> SearchOutcome.Search? {
        var (category, location, radius) = (nil as String?, nil as Coordinate?, nil as Double?)
        var categories: [String] = []
        guard try enterObject() else { return nil }
        while let key = try nextKey() {
            switch key {
            case "category": category = try string()
            case "location": location = try coordinate()
            case "radiusMeters": radius = try double()
            case "categories": categories = try strings()
            default: try skip()
            }
        }
        guard let category, let location, let radius else { return nil }
        return SearchOutcome.Search(
            category: category, location: location, radiusMeters: radius, categories: categories)
    }

    /// Reads a place. It must have an id, a name and a known provider.
    mutating func place() throws(JSONError) -> Place? {
        var place = Place(id: "", provider: .hotpepper, name: "")
        var provider: ProviderID?
        guard try enterObject() else { return nil }
        while let key = try nextKey() {
            switch key {
            case "id": place.id = try string() ?? ""
            case "provider": provider = try string().flatMap(ProviderID.init)
            case "name": place.name = try string() ?? ""
            case "category": place.category = try string()
            case "types": place.types = try strings()
            case "location": place.location = try coordinate()
            case "distanceMeters": place.distanceMeters = try double()
            case "address": place.address = try string()
            case "imageURL": place.imageURL = try string()
            case "url": place.url = try string()
            case "rating": place.rating = try double()
            case "ratingCount": place.ratingCount = try int()
            case "priceLevel": place.priceLevel = try int()
            case "openNow": place.openNow = try bool()
            case "businessStatus": place.business.status = try string().flatMap(BusinessStatus.init)
            case "openingHours": place.business.openingHours = try strings()
            default: try skip()
            }
        }
        guard let provider, !place.id.isEmpty, !place.name.isEmpty else { return nil }
        place.provider = provider
        return place
    }

    /// Reads an error. It must have a code.
    mutating func failure() throws(JSONError) -> OutcomeEvent.Failure? {
        var failure = OutcomeEvent.Failure(code: "", message: "", isRetryable: false)
        guard try enterObject() else { return nil }
        while let key = try nextKey() {
            switch key {
            case "code": failure.code = try string() ?? ""
            case "message": failure.message = try string() ?? ""
            case "retryable": failure.isRetryable = try bool() ?? false
            case "retryAfterMs": failure.retryAfter = try int().map { .milliseconds($0) }
            case "httpStatus": failure.httpStatus = try int()
            case "providerStatus": failure.providerStatus = try string()
            case "member": failure.member = try string()
            case "limit": failure.limit = try string()
            case "account": failure.account = try string()
            case "opensAt": failure.opensAt = try string().flatMap { WallTime(rfc3339: Array($0.utf8)) }
            default: try skip()
            }
        }
        return failure.code.isEmpty ? nil : failure
    }
}
