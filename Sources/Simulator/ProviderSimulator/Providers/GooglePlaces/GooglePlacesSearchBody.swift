internal import JSON

/// The body of a nearby search or text search of Google Places (New).
struct GooglePlacesSearchBody {
    enum Area {
        case circle(latitude: Double, longitude: Double, radius: Double)
        case rectangle(south: Double, west: Double, north: Double, east: Double)
    }

    /// The types requested by a nearby search.
    struct TypeFilter {
        var included: [String] = []
        var excluded: [String] = []
        var includedPrimary: [String] = []
        var excludedPrimary: [String] = []
    }

    struct TextConditions {
        /// The text; `nil` if the member is missing.
        var query: String?
        /// One type, or an empty text.
        var type = ""
        /// True if places of other types are left out. Otherwise they come later in the results.
        var isTypeStrict = false
        var needsOpen = false
        /// 0 to 5.
        var minRating = 0.0
        var priceLevels: [String] = []
        var includesServiceAreas = false
    }

    var types = TypeFilter()
    var text = TextConditions()
    var restriction: Area?
    var bias: Area?
    /// The number of places on a page; `nil` if the request does not contain it.
    var count: Int?
    var rank = ""
    var language = ""
    var region = ""
    var includesFutureOpenings = false
    var pageToken = ""

    /// A fingerprint of the members that must be equal on all pages of a text search: all except page size and page
    /// token.
    var fingerprint: UInt64 {
        var print = Fingerprint()
        print.combine(
            "\(restriction.debugDescription)|\(bias.debugDescription)|\(text.minRating)|\(text.needsOpen)|\(text.isTypeStrict)"
                .utf8)
        let texts = [text.query ?? "", text.type, rank, language, region, "\(text.includesServiceAreas)"]
        for text in texts + text.priceLevels { print.combine(text.utf8) }
        return print.value
    }

    /// Parses a body as strictly as Google: an unknown or misplaced member is an error.
    /// - Parameter isText: true for a text search, false for a nearby search.
    init(_ json: [UInt8], isText: Bool) throws(InvalidArgument) {
        do {
            var reader = JSONReader(json.span)
            guard try reader.enterObject() else {
                throw InvalidArgument(message: "Invalid JSON payload received. Root element must be a message.")
            }

            while let key = try reader.nextKey() {
                let name = try key.string()
                if try reader.skipNull() { continue }

                var isKnown = try isText ? readTextMember(name, from: &reader) : readNearbyMember(name, from: &reader)
                if !isKnown { isKnown = try readCommonMember(name, from: &reader) }
                guard isKnown else { throw InvalidArgument.unknownMember(name) }
            }
            try reader.finish()
        } catch let error as InvalidArgument {
            throw error
        } catch {
            throw InvalidArgument(message: "Invalid JSON payload received. Unexpected token.")
        }
    }

    // The three functions below return `false` for an unknown name.

    private mutating func readNearbyMember(_ name: String, from reader: inout JSONReader) throws -> Bool {
        switch name {
        case "includedTypes": types.included = try reader.typesMember(name)
        case "excludedTypes": types.excluded = try reader.typesMember(name)
        case "includedPrimaryTypes": types.includedPrimary = try reader.typesMember(name)
        case "excludedPrimaryTypes": types.excludedPrimary = try reader.typesMember(name)
        case "maxResultCount": count = try reader.integerMember(name)
        case "locationRestriction": restriction = try reader.areaMember(name, allowing: [.circle])
        case "includeFutureOpeningBusinesses": includesFutureOpenings = try reader.flagMember(name)
        default: return false
        }
        return true
    }

    private mutating func readTextMember(_ name: String, from reader: inout JSONReader) throws -> Bool {
        switch name {
        case "textQuery": text.query = try reader.textMember(name)
        case "includedType": text.type = try reader.textMember(name)
        case "strictTypeFiltering": text.isTypeStrict = try reader.flagMember(name)
        case "openNow": text.needsOpen = try reader.flagMember(name)
        case "minRating": text.minRating = try reader.numberMember(name)
        case "priceLevels": text.priceLevels = try reader.textsMember(name)
        case "includePureServiceAreaBusinesses": text.includesServiceAreas = try reader.flagMember(name)
        case "includeFutureOpeningBusinesses": includesFutureOpenings = try reader.flagMember(name)

        case "pageSize", "maxResultCount": count = try reader.integerMember(name)
        case "pageToken": pageToken = try reader.textMember(name)
        case "locationBias": bias = try reader.areaMember(name, allowing: [.circle, .rectangle])
        case "locationRestriction": restriction = try reader.areaMember(name, allowing: [.rectangle])
        case "evOptions", "searchAlongRouteParameters": try reader.skip()
        default: return false
        }

        return true
    }

    private mutating func readCommonMember(_ name: String, from reader: inout JSONReader) throws -> Bool {
        switch name {
        case "rankPreference": rank = try reader.textMember(name)
        case "languageCode": language = try reader.textMember(name)
        case "regionCode": region = try reader.textMember(name)
        case "routingParameters": try reader.skip()
        default: return false
        }
        return true
    }
}
