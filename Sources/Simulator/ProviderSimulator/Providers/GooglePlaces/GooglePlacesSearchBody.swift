internal import JSON

/// The body of a nearby search or text search of Google Places (New), with the members that a worker sends.
struct GooglePlacesSearchBody {
    /// The types of a nearby search.
    var types = GooglePlacesTypeFilter()
    /// True to order places by distance, and not by popularity or relevance.
    var ranksByDistance = false
    /// The text of a text search.
    var query = ""
    /// The type of a text search, or an empty text. Places of other types come later in the results.
    var type = ""
    /// True to leave out places of other types.
    var isStrict = false
    var needsOpen = false
    var area: PlaceQuery.Area?
    /// The number of places on a page; `nil` if the request does not contain it.
    var count: Int?
    var language = ""
    var pageToken = ""

    /// A fingerprint of the members that must be equal on all pages of a text search: all except page size and page
    /// token.
    var fingerprint: UInt64 {
        var print = Fingerprint()
        let flags = "\(needsOpen) \(isStrict) \(ranksByDistance)"
        for text in ["\(area.debugDescription)", query, type, flags, language] { print.combine(text.utf8) }
        return print.value
    }

    /// Parses a body as strictly as Google: an unknown or misplaced member is an error.
    /// - Parameter isText: true for a text search, false for a nearby search.
    init(_ json: [UInt8], isText: Bool) throws(InvalidArgument) {
        do {
            var reader = JSONReader(json.span)
            guard try reader.enterObject() else {
                throw InvalidArgument("Invalid JSON payload received. Root element must be a message.")
            }

            while let key = try reader.nextKey() {
                let name = try key.string()
                if try reader.skipNull() { continue }
                let isKnown = try isText ? readTextMember(name, from: &reader) : readNearbyMember(name, from: &reader)
                guard isKnown else { throw InvalidArgument.unknownMember(name) }
            }
            try reader.finish()
        } catch let error as InvalidArgument {
            throw error
        } catch {
            throw InvalidArgument("Invalid JSON payload received. Unexpected token.")
        }

        if let count, count < 0 { throw InvalidArgument("Result count must not be negative.") }
        guard language.utf8.count <= 35, language.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" }) else {
            throw InvalidArgument("Invalid languageCode: \(language.prefix(50)).")
        }
    }

    // The two functions below return `false` for an unknown name.

    private mutating func readNearbyMember(_ name: String, from reader: inout JSONReader) throws -> Bool {
        switch name {
        case "includedTypes": types.included = try reader.typesMember(name)
        case "excludedTypes": types.excluded = try reader.typesMember(name)
        case "includedPrimaryTypes": types.includedPrimary = try reader.typesMember(name)
        case "excludedPrimaryTypes": types.excludedPrimary = try reader.typesMember(name)
        case "rankPreference": ranksByDistance = try reader.ranking(name, other: "POPULARITY") == "DISTANCE"
        case "maxResultCount": count = try reader.integerMember(name)
        case "locationRestriction": area = try reader.areaMember(name, shape: "circle") { try $0.circle(in: name) }
        case "languageCode": language = try reader.textMember(name)
        default: return false
        }
        return true
    }

    private mutating func readTextMember(_ name: String, from reader: inout JSONReader) throws -> Bool {
        switch name {
        case "textQuery": query = try reader.textMember(name)
        case "includedType": type = try reader.textMember(name)
        case "strictTypeFiltering": isStrict = try reader.flagMember(name)
        case "rankPreference": ranksByDistance = try reader.ranking(name, other: "RELEVANCE") == "DISTANCE"
        case "openNow": needsOpen = try reader.flagMember(name)
        case "pageSize": count = try reader.integerMember(name)
        case "pageToken": pageToken = try reader.textMember(name)
        case "locationRestriction":
            area = try reader.areaMember(name, shape: "rectangle") { try $0.rectangle(in: name) }
        case "languageCode": language = try reader.textMember(name)
        default: return false
        }
        return true
    }
}

/// Reads the values of members with the checks of Google Places (New). Each function throws `InvalidArgument` for a
/// value of the wrong type, and `JSONError` for invalid JSON.
extension JSONReader {
    fileprivate mutating func textMember(_ name: String) throws -> String {
        guard let text = try string() else { throw InvalidArgument.wrongType(of: name, expected: "TYPE_STRING") }
        return text
    }

    fileprivate mutating func flagMember(_ name: String) throws -> Bool {
        guard let flag = try bool() else { throw InvalidArgument.wrongType(of: name, expected: "TYPE_BOOL") }
        return flag
    }

    fileprivate mutating func integerMember(_ name: String) throws -> Int {
        guard let number = try lenientInt(), number.magnitude <= Int32.max else {
            throw InvalidArgument.wrongType(of: name, expected: "TYPE_INT32")
        }
        return number
    }

    /// Reads the order of places.
    /// - Parameter other: the value that is valid besides `DISTANCE`.
    fileprivate mutating func ranking(_ name: String, other: String) throws -> String {
        let text = try textMember(name)
        guard ["DISTANCE", other, "RANK_PREFERENCE_UNSPECIFIED"].contains(text) else {
            throw InvalidArgument("Invalid value at 'rank_preference' (RankPreference), \"\(text.prefix(50))\".")
        }
        return text
    }

    /// Reads a list of place types, ignoring `fault:` texts.
    fileprivate mutating func typesMember(_ name: String) throws -> [String] {
        guard try kind() == .array, try enterArray() else {
            throw InvalidArgument.wrongType(of: name, expected: "TYPE_STRING")
        }

        var types: [String] = []
        while try nextElement() {
            let type = try textMember(name)
            if type.hasPrefix("fault:") { continue }
            guard GooglePlacesTypes.all.contains(type) else { throw InvalidArgument.unsupportedType(type) }
            types.append(type)
            guard types.count <= 50 else { throw InvalidArgument("Too many types in \(name): at most 50.") }
        }
        return types
    }

    /// Reads an object with one member, `shape`; `nil` if it has none.
    fileprivate mutating func areaMember(
        _ name: String, shape: String, read: (inout JSONReader) throws -> PlaceQuery.Area
    ) throws -> PlaceQuery.Area? {
        var area: PlaceQuery.Area?
        try eachMember(of: name) { member, reader in
            guard member == shape else { return false }
            area = try read(&reader)
            return true
        }
        return area
    }

    fileprivate mutating func circle(in name: String) throws -> PlaceQuery.Area {
        var (center, radius) = ((latitude: 0.0, longitude: 0.0), 0.0)
        try eachMember(of: name) { member, reader in
            switch member {
            case "center": center = try reader.position(in: name)
            case "radius":
                guard let number = try reader.double() else {
                    throw InvalidArgument.wrongType(of: "\(name).circle.radius", expected: "TYPE_DOUBLE")
                }
                radius = number
            default: return false
            }
            return true
        }
        return .circle(latitude: center.latitude, longitude: center.longitude, radius: radius)
    }

    fileprivate mutating func rectangle(in name: String) throws -> PlaceQuery.Area {
        var (low, high) = ((latitude: 0.0, longitude: 0.0), (latitude: 0.0, longitude: 0.0))
        try eachMember(of: name) { member, reader in
            switch member {
            case "low": low = try reader.position(in: name)
            case "high": high = try reader.position(in: name)
            default: return false
            }
            return true
        }

        guard low.latitude <= high.latitude else { throw InvalidArgument("\(name): low is north of high.") }
        return .box(south: low.latitude, west: low.longitude, north: high.latitude, east: high.longitude)
    }

    private mutating func position(in name: String) throws -> (latitude: Double, longitude: Double) {
        var (latitude, longitude) = (0.0, 0.0)
        try eachMember(of: name) { member, reader in
            switch member {
            // A value that is not a number fails the range check below.
            case "latitude": latitude = try reader.double() ?? .infinity
            case "longitude": longitude = try reader.double() ?? .infinity
            default: return false
            }
            return true
        }

        guard latitude.magnitude <= 90, longitude.magnitude <= 180 else {
            throw InvalidArgument("\(name): latitude must be within -90...90, longitude within -180...180.")
        }
        return (latitude, longitude)
    }

    /// Reads the members of an object.
    /// - Parameter read: reads one member; `false` if its name is unknown.
    private mutating func eachMember(of name: String, read: (String, inout JSONReader) throws -> Bool) throws {
        guard try enterObject() else { throw InvalidArgument.wrongType(of: name, expected: "message") }
        while let key = try nextKey() {
            let member = try key.string()
            guard try read(member, &self) else { throw InvalidArgument.unknownMember(member) }
        }
    }
}

/// The types of a nearby search of Google Places (New). A place must satisfy all four lists.
struct GooglePlacesTypeFilter {
    var included: [String] = []
    var excluded: [String] = []
    var includedPrimary: [String] = []
    var excludedPrimary: [String] = []

    /// Adds the conditions to a query.
    /// - Throws: `InvalidArgument` if a type is included and excluded.
    func apply(to query: inout PlaceQuery) throws(InvalidArgument) {
        for (wanted, unwanted) in [(included, excluded), (includedPrimary, excludedPrimary)] {
            if let type = wanted.first(where: unwanted.contains) {
                throw InvalidArgument("Conflicting types: \(type) is included and excluded.")
            }
        }

        let (wanted, unwanted) = (included, excluded)
        query.categories &= Category.mask { $0.isAny(of: wanted, orEmpty: true) && !$0.isAny(of: unwanted) }
        let (primary, otherPrimary) = (includedPrimary, excludedPrimary)
        guard !primary.isEmpty || !otherPrimary.isEmpty else { return }
        query.condition = { place, _ in
            // Some places have no primary type.
            guard place.hasPrimaryType else { return primary.isEmpty }
            let type = place.kind.primaryType
            return (primary.isEmpty || primary.contains(type)) && !otherPrimary.contains(type)
        }
    }
}

extension Category {
    fileprivate func isAny(of types: [String], orEmpty: Bool = false) -> Bool {
        types.isEmpty ? orEmpty : types.contains(where: self.types.contains)
    }
}
