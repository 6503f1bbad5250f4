import JSON
import LocationSearch

/// The members of a request as they were read: types checked, ranges not yet.
struct RequestMembers {
    /// Of `requestId` and `sessionId`, in Unicode scalars.
    static let idLength = 1...128

    private(set) var requestID: String?
    private(set) var operation: SearchOperation?
    private(set) var provider: ProviderChoice?
    private(set) var sessionID: String?
    private var category: String?
    private var hasLocation = false
    private var latitude: Double?
    private var longitude: Double?
    private var radiusMeters: Double?
    private var keyword: String?
    private var language: String?
    private var openNow: Bool?
    private var limit: Int?
    private var pageToken: String?
    private var placeID: String?
    private var timeoutMilliseconds: Int?
    /// Members of a wrong type, in the order they were met.
    private(set) var problems: [SearchError] = []

    /// `nil` unless the text can serve as an id.
    static func usable(_ id: String?) -> String? {
        guard let id, id.utf8.count <= 4 * idLength.upperBound, idLength.contains(id.unicodeScalars.count) else {
            return nil
        }
        return id
    }

    /// - Returns: `false` when the value is no object.
    mutating func read(from reader: inout JSONReader) throws(JSONError) -> Bool {
        guard try reader.enterObject() else { return false }
        while let key = try reader.nextKey() {
            switch key {
            case "requestId": requestID = try text("requestId", "text of 1 to 128 characters", &reader)
            case "operation": operation = try choice("operation", SearchOperation.init, Self.operations, &reader)
            case "provider": provider = try choice("provider", ProviderChoice.init, Self.providers, &reader)
            case "category": category = try text("category", "text of 1 to 64 characters", &reader)
            case "location": try readLocation(&reader)
            case "radiusMeters": radiusMeters = try number("radiusMeters", "a number from 1 to 50000", &reader)
            case "keyword": keyword = try text("keyword", "text of 1 to 256 characters", &reader)
            case "language": language = try text("language", "text, a BCP 47 language tag such as \"ja\"", &reader)
            case "openNow": openNow = try boolean("openNow", &reader)
            case "limit": limit = try integer("limit", "an integer from 1 to 100", &reader)
            case "pageToken": pageToken = try text("pageToken", "text of 1 to 4096 characters", &reader)
            case "placeId": placeID = try text("placeId", "text of 1 to 512 characters", &reader)
            case "sessionId": sessionID = try text("sessionId", "text of 1 to 128 characters", &reader)
            case "timeoutMs": timeoutMilliseconds = try integer("timeoutMs", "an integer from 1 to 60000", &reader)
            default: try reader.skip()
            }
        }
        return true
    }

    private static let operations = oneOf(SearchOperation.allCases.map(\.rawValue))
    private static let providers = oneOf(ProviderID.allCases.map(\.rawValue) + ["auto"])

    private static func oneOf(_ names: [String]) -> String { "one of " + names.joined(separator: ", ") }

    /// - Parameter id: `requestID`, or what stands in for it.
    /// - Throws: the first member that is wrong.
    func request(id: String) throws(SearchError) -> SearchRequest {
        let operation = operation ?? .search
        // The location is a search's alone.
        if let problem = problems.first(where: { operation == .search || !$0.isAbout("location") }) { throw problem }
        return try SearchRequest(
            requestID: id, operation: operation, provider: provider ?? .auto, category: category ?? "restaurant",
            location: operation == .search ? try location() : nil, radiusMeters: radiusMeters ?? 1500,
            keyword: keyword, language: language, openNow: openNow, limit: limit ?? 20, pageToken: pageToken,
            placeID: placeID, sessionID: sessionID, timeout: timeoutMilliseconds.map { .milliseconds($0) }
        ).validated()
    }

    private func location() throws(SearchError) -> Coordinate? {
        guard hasLocation else { return nil }
        guard let latitude else { throw .invalid("location.latitude", Self.latitudeRange) }
        guard let longitude else { throw .invalid("location.longitude", Self.longitudeRange) }
        return Coordinate(latitude: latitude, longitude: longitude)
    }

    private static let latitudeRange = "a finite number from -90 to 90"
    private static let longitudeRange = "a finite number from -180 to 180"

    // MARK: Members

    private mutating func readLocation(_ reader: inout JSONReader) throws(JSONError) {
        (hasLocation, latitude, longitude) = (false, nil, nil)
        forget("location")
        if try reader.skipNull() { return }
        guard try reader.enterObject() else { return refuse("location", "an object with latitude and longitude") }
        hasLocation = true
        while let key = try reader.nextKey() {
            switch key {
            case "latitude": latitude = try number("location.latitude", Self.latitudeRange, &reader)
            case "longitude": longitude = try number("location.longitude", Self.longitudeRange, &reader)
            default: try reader.skip()
            }
        }
    }

    private mutating func text(
        _ member: String, _ expected: String, _ reader: inout JSONReader
    ) throws(JSONError) -> String? {
        forget(member)
        if try reader.skipNull() { return nil }
        do throws(JSONError) {
            if let text = try reader.string() { return text }
            refuse(member, expected)
        } catch {
            guard error.isInText else { throw error }
            refuse(member, "text in valid UTF-8")
        }
        return nil
    }

    private mutating func choice<Choice>(
        _ member: String, _ choice: (String) -> Choice?, _ expected: String, _ reader: inout JSONReader
    ) throws(JSONError) -> Choice? {
        guard let text = try text(member, expected, &reader) else { return nil }
        if let choice = choice(text) { return choice }
        refuse(member, expected)
        return nil
    }

    private mutating func number(
        _ member: String, _ expected: String, _ reader: inout JSONReader
    ) throws(JSONError) -> Double? {
        forget(member)
        if try reader.skipNull() { return nil }
        if let number = try reader.double() { return number }
        refuse(member, expected)
        return nil
    }

    private mutating func integer(
        _ member: String, _ expected: String, _ reader: inout JSONReader
    ) throws(JSONError) -> Int? {
        forget(member)
        if try reader.skipNull() { return nil }
        if let number = try reader.int() { return number }
        refuse(member, expected)
        return nil
    }

    private mutating func boolean(_ member: String, _ reader: inout JSONReader) throws(JSONError) -> Bool? {
        forget(member)
        if try reader.skipNull() { return nil }
        if let flag = try reader.bool() { return flag }
        refuse(member, "true or false")
        return nil
    }

    // MARK: Problems

    private mutating func refuse(_ member: String, _ expected: String) {
        problems.append(.invalid(member, expected))
    }

    /// Of a member that is there twice, the last counts: what was wrong with the first no longer matters.
    private mutating func forget(_ member: String) {
        if !problems.isEmpty { problems.removeAll { $0.isAbout(member) } }
    }
}

extension SearchError {
    /// Whether `member` or something within it is at fault.
    fileprivate func isAbout(_ member: String) -> Bool {
        self.member == member || self.member?.hasPrefix(member + ".") == true
    }
}
