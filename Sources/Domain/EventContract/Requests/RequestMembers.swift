public import Basics
import JSON
import LocationSearch

/// The members of a request as read. Their types are checked, but not their ranges.
struct RequestMembers {
    /// The length that `requestId` and `sessionId` may have, in Unicode scalars.
    static let idLength = 1...128

    /// The area to search.
    private struct Area {
        /// The centre, whose coordinates may be missing.
        var centre: (latitude: Double?, longitude: Double?)?
        var radiusMeters: Double?
    }

    private(set) var requestID: String?
    private(set) var operation: SearchOperation?
    private(set) var provider: ProviderChoice?
    private(set) var sessionID: String?
    private(set) var category: String?
    private var area = Area()
    private var keyword: String?
    private var language: String?
    private var openNow: Bool?
    private var page = (limit: nil as Int?, token: nil as String?)
    private var placeID: String?
    private var timeoutMilliseconds: Int?
    /// `nil` if none of its members was read.
    var options: SearchOptions?
    /// The class in the request's `priority`. Used only if its topic allows a choice, so an invalid class is not refused here.
    private(set) var requestedClass = RequestedClass.none
    /// The refusals of members with a wrong type, in the order in which they were read.
    private var problems: [SearchError] = []
    /// The refusal to report. Only a search has a location; other operations ignore it, valid or not.
    var problem: SearchError? { problems.first { (operation ?? .search) == .search || !$0.isAbout("location") } }

    /// Returns the text if it can serve as an id, otherwise `nil`.
    static func usable(_ id: String?) -> String? {
        guard let id, id.utf8.count <= 4 * idLength.upperBound, idLength.contains(id.unicodeScalars.count) else {
            return nil
        }
        return id
    }

    /// Reads the members of an object. Continues after invalid members, and adds their refusals to `problems`.
    /// - Returns: `false` if the value is not an object.
    mutating func read(from reader: inout JSONReader) throws(JSONError) -> Bool {
        guard try reader.enterObject() else { return false }
        while let key = try reader.nextKey() {
            switch key {
            case "requestId":
                requestID = try text(of: "requestId", expected: "text of 1 to 128 characters", from: &reader)
            case "operation":
                operation = try choice(
                    of: "operation", expected: Self.operations, from: &reader, parse: Self.operation)
            case "provider":
                provider = try choice(
                    of: "provider", expected: Self.providers, from: &reader, parse: Self.provider)
            case "category":
                category = try text(of: "category", expected: "text of 1 to 64 characters", from: &reader)
            case "location":
                try readLocation(from: &reader)
            case "radiusMeters":
                area.radiusMeters = try number(of: "radiusMeters", expected: "a number from 1 to 50000", from: &reader)
            case "keyword":
                keyword = try text(of: "keyword", expected: "text of 1 to 256 characters", from: &reader)
            case "language":
                language = try text(
                    of: "language", expected: "text, a BCP 47 language tag such as \"ja\"", from: &reader)
            case "openNow":
                openNow = try boolean(of: "openNow", from: &reader)
            case "limit":
                page.limit = try integer(of: "limit", expected: "an integer from 1 to 100", from: &reader)
            case "pageToken":
                page.token = try text(of: "pageToken", expected: "text of 1 to 4096 characters", from: &reader)
            case "placeId":
                placeID = try text(of: "placeId", expected: "text of 1 to 512 characters", from: &reader)
            case "sessionId":
                sessionID = try text(of: "sessionId", expected: "text of 1 to 128 characters", from: &reader)
            case "timeoutMs":
                timeoutMilliseconds = try integer(
                    of: "timeoutMs", expected: "an integer from 1 to 60000", from: &reader)
            case "priority":
                requestedClass = try readClass(from: &reader)
            // Last, so that they cost other requests nothing.
            case "categories": try readTypes("categories", into: \.categories, from: &reader)
            case "excludeCategories": try readTypes("excludeCategories", into: \.excludedCategories, from: &reader)
            case "rankBy": try readRanking(from: &reader)
            case "include": try readParts(from: &reader)
            default: try reader.skip()
            }
        }
        return true
    }

    private static let operations = oneOf(SearchOperation.allCases.map(\.rawValue))
    private static let providers = oneOf(ProviderID.allCases.map(\.rawValue) + ["auto"])

    static func oneOf(_ names: [String]) -> String { "one of " + names.joined(separator: ", ") }

    /// Makes the request from what was read, with the contract's defaults for missing members.
    /// - Parameter id: `requestID`, or its replacement.
    /// - Throws: the refusal of the first invalid member.
    func request(id: String) throws(SearchError) -> SearchRequest {
        let operation = operation ?? .search
        if let problem { throw problem }

        let request = SearchRequest(
            requestID: id, operation: operation, provider: provider ?? .auto,
            category: category ?? SearchRequest.defaultCategory,
            location: operation == .search ? try coordinate() : nil,
            radiusMeters: area.radiusMeters ?? SearchRequest.defaultRadiusMeters,
            keyword: keyword, language: language, openNow: openNow, limit: page.limit ?? SearchRequest.defaultLimit,
            pageToken: page.token, placeID: placeID, sessionID: sessionID,
            timeout: timeoutMilliseconds.map { .milliseconds($0) })
        guard let options else { return try request.validated() }
        return try self.request(request, with: options)
    }

    private func coordinate() throws(SearchError) -> Coordinate? {
        guard let centre = area.centre else { return nil }
        guard let latitude = centre.latitude else { throw .invalid("location.latitude", expected: Self.latitudeRange) }
        guard let longitude = centre.longitude else {
            throw .invalid("location.longitude", expected: Self.longitudeRange)
        }
        return Coordinate(latitude: latitude, longitude: longitude)
    }

    private static let latitudeRange = "a finite number from -90 to 90"
    private static let longitudeRange = "a finite number from -180 to 180"

    // MARK: Members

    private func readClass(from reader: inout JSONReader) throws(JSONError) -> RequestedClass {
        if try reader.skipNull() { return .none }
        guard let text = try reader.text() else { return .unknown(name: "priority") }
        return RequestedClass(text, name: "priority")
    }

    private mutating func readLocation(from reader: inout JSONReader) throws(JSONError) {
        area.centre = nil
        forget("location")

        if try reader.skipNull() { return }
        guard try reader.enterObject() else {
            return refuse("location", expected: "an object with latitude and longitude")
        }

        var (latitude, longitude) = (nil as Double?, nil as Double?)
        while let key = try reader.nextKey() {
            switch key {
            case "latitude":
                latitude = try number(of: "location.latitude", expected: Self.latitudeRange, from: &reader)
            case "longitude":
                longitude = try number(of: "location.longitude", expected: Self.longitudeRange, from: &reader)
            default: try reader.skip()
            }
        }
        area.centre = (latitude, longitude)
    }

    private mutating func text(
        of member: String, expected: String, from reader: inout JSONReader
    ) throws(JSONError) -> String? {
        forget(member)
        if try reader.skipNull() { return nil }

        do throws(JSONError) {
            if let text = try reader.string() { return text }
            refuse(member, expected: expected)
        } catch {
            guard error.isInText else { throw error }
            refuse(member, expected: "text in valid UTF-8")
        }
        return nil
    }

    /// - Parameter parse: returns the choice with this name; `nil` for an unknown name.
    mutating func choice<Choice>(
        of member: String, expected: String, from reader: inout JSONReader,
        parse: (borrowing JSONText) -> Choice?
    ) throws(JSONError) -> Choice? {
        forget(member)
        if try reader.skipNull() { return nil }

        if let text = try reader.text() {
            if let choice = parse(text) { return choice }
            guard text.isValid else {
                refuse(member, expected: "text in valid UTF-8")
                return nil
            }
        }
        refuse(member, expected: expected)
        return nil
    }

    // The names are the raw values of the types. They are compared in the input, without making a string.
    private static func operation(_ name: borrowing JSONText) -> SearchOperation? {
        switch name {
        case "search": .search
        case "details": .details
        case "photo": .photo
        default: nil
        }
    }

    private static func provider(_ name: borrowing JSONText) -> ProviderChoice? {
        switch name {
        case "auto": .auto
        case "hotpepper": .named(.hotpepper)
        case "google-places": .named(.googlePlaces)
        case "google-places-legacy": .named(.googlePlacesLegacy)
        default: nil
        }
    }

    private mutating func number(
        of member: String, expected: String, from reader: inout JSONReader
    ) throws(JSONError) -> Double? {
        forget(member)
        if try reader.skipNull() { return nil }
        if let number = try reader.double() { return number }
        refuse(member, expected: expected)
        return nil
    }

    private mutating func integer(
        of member: String, expected: String, from reader: inout JSONReader
    ) throws(JSONError) -> Int? {
        forget(member)
        if try reader.skipNull() { return nil }
        if let number = try reader.int() { return number }
        refuse(member, expected: expected)
        return nil
    }

    private mutating func boolean(of member: String, from reader: inout JSONReader) throws(JSONError) -> Bool? {
        forget(member)
        if try reader.skipNull() { return nil }
        if let flag = try reader.bool() { return flag }
        refuse(member, expected: "true or false")
        return nil
    }

    // MARK: Problems

    mutating func refuse(_ member: String, expected: String) {
        problems.append(.invalid(member, expected: expected))
    }

    /// Drops the problems of an earlier member with the same name: if a name repeats, the last member counts.
    mutating func forget(_ member: String) {
        if !problems.isEmpty { problems.removeAll { $0.isAbout(member) } }
    }
}

extension SearchError {
    /// Returns whether `member` or a part of it is faulty.
    fileprivate func isAbout(_ member: String) -> Bool {
        self.member == member || self.member?.hasPrefix(member + ".") == true
    }
}

/// The class in a request's `priority`.
public enum RequestedClass: Sendable, Hashable {
    /// The request has no `priority`.
    case none
    case known(RequestClass)
    /// The request's `priority` is not a class. `name` is the name of the member or attribute.
    case unknown(name: String)

    /// Reads the text of the member or attribute with this name.
    init(_ text: borrowing JSONText, name: String) {
        switch text {
        case "interactive": self = .known(.interactive)
        case "batch": self = .known(.batch)
        default: self = .unknown(name: name)
        }
    }
}
