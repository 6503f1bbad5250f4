internal import JSON

/// Why Google's new API refuses a request.
struct Refusal: Error {
    let message: String
    /// The member at fault.
    var field: String?
}

/// The body of a nearby or text search.
struct NewRequest {
    enum Area {
        case circle(latitude: Double, longitude: Double, radius: Double)
        case rectangle(south: Double, west: Double, north: Double, east: Double)
    }

    var includedTypes: [String] = []
    var excludedTypes: [String] = []
    var includedPrimaryTypes: [String] = []
    var excludedPrimaryTypes: [String] = []
    var restriction: Area?
    var bias: Area?
    var count: Int?
    var rank = ""
    var language = ""
    var region = ""
    var futureOpenings = false
    var textQuery: String?
    var includedType = ""
    var isStrict = false
    var openNow = false
    var minRating = 0.0
    var priceLevels: [String] = []
    var serviceAreas = false
    var pageToken = ""

    /// Of all members but the page's size and token, which must be the same on each page.
    var fingerprint: UInt64 {
        var print = Fingerprint()
        print.combine(
            "\(restriction.debugDescription)|\(bias.debugDescription)|\(minRating)|\(openNow)|\(isStrict)".utf8)
        for text in [textQuery ?? "", includedType, rank, language, region, "\(serviceAreas)"] + priceLevels {
            print.combine(text.utf8)
        }
        return print.value
    }

    /// - Parameter isText: text search; else nearby.
    init(_ json: [UInt8], isText: Bool) throws(Refusal) {
        do {
            var reader = JSONReader(json.span)
            guard try reader.enterObject() else {
                throw Refusal(message: "Invalid JSON payload received. Root element must be a message.")
            }
            while let key = try reader.nextKey() {
                let name = try key.string()
                if try reader.skipNull() { continue }
                let isKnown = try isText ? readTextMember(name, &reader) : readNearbyMember(name, &reader)
                if !isKnown {
                    let isCommon = try readCommonMember(name, &reader)
                    guard isCommon else { throw Self.unknown(name) }
                }
            }
            try reader.finish()
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal(message: "Invalid JSON payload received. Unexpected token.")
        }
    }

    private static func unknown(_ name: String) -> Refusal {
        Refusal(
            message: "Invalid JSON payload received. Unknown name \"\(name.prefix(100))\": Cannot find field.",
            field: String(name.prefix(100)))
    }

    private static func invalid(_ name: String, _ type: String) -> Refusal {
        Refusal(message: "Invalid value at '\(name)' (\(type)).", field: name)
    }

    private mutating func readNearbyMember(_ name: String, _ reader: inout JSONReader) throws -> Bool {
        switch name {
        case "includedTypes": includedTypes = try Self.types(name, &reader)
        case "excludedTypes": excludedTypes = try Self.types(name, &reader)
        case "includedPrimaryTypes": includedPrimaryTypes = try Self.types(name, &reader)
        case "excludedPrimaryTypes": excludedPrimaryTypes = try Self.types(name, &reader)
        case "maxResultCount": count = try Self.int(name, &reader)
        case "locationRestriction": restriction = try Self.area(name, &reader, circle: true, rectangle: false)
        case "includeFutureOpeningBusinesses": futureOpenings = try Self.flag(name, &reader)
        default: return false
        }
        return true
    }

    private mutating func readTextMember(_ name: String, _ reader: inout JSONReader) throws -> Bool {
        switch name {
        case "textQuery": textQuery = try Self.text(name, &reader)
        case "includedType": includedType = try Self.text(name, &reader)
        case "strictTypeFiltering": isStrict = try Self.flag(name, &reader)
        case "openNow": openNow = try Self.flag(name, &reader)
        case "minRating":
            guard let number = try reader.double() else { throw Self.invalid(name, "TYPE_DOUBLE") }
            minRating = number
        case "priceLevels": priceLevels = try Self.texts(name, &reader)
        case "pageSize", "maxResultCount": count = try Self.int(name, &reader)
        case "pageToken": pageToken = try Self.text(name, &reader)
        case "locationBias": bias = try Self.area(name, &reader, circle: true, rectangle: true)
        case "locationRestriction": restriction = try Self.area(name, &reader, circle: false, rectangle: true)
        case "includePureServiceAreaBusinesses": serviceAreas = try Self.flag(name, &reader)
        case "includeFutureOpeningBusinesses": futureOpenings = try Self.flag(name, &reader)
        case "evOptions", "searchAlongRouteParameters": try reader.skip()
        default: return false
        }
        return true
    }

    private mutating func readCommonMember(_ name: String, _ reader: inout JSONReader) throws -> Bool {
        switch name {
        case "rankPreference": rank = try Self.text(name, &reader)
        case "languageCode": language = try Self.text(name, &reader)
        case "regionCode": region = try Self.text(name, &reader)
        case "routingParameters": try reader.skip()
        default: return false
        }
        return true
    }

    // MARK: Values

    private static func text(_ name: String, _ reader: inout JSONReader) throws -> String {
        guard let text = try reader.string() else { throw invalid(name, "TYPE_STRING") }
        return text
    }

    private static func flag(_ name: String, _ reader: inout JSONReader) throws -> Bool {
        guard let flag = try reader.bool() else { throw invalid(name, "TYPE_BOOL") }
        return flag
    }

    private static func int(_ name: String, _ reader: inout JSONReader) throws -> Int {
        guard let number = try reader.lenientInt(), abs(number) <= Int32.max else { throw invalid(name, "TYPE_INT32") }
        return number
    }

    private static func texts(_ name: String, _ reader: inout JSONReader) throws -> [String] {
        guard try reader.kind() == .array, try reader.enterArray() else { throw invalid(name, "TYPE_STRING") }
        var texts: [String] = []
        while try reader.nextElement() {
            texts.append(try text(name, &reader))
            guard texts.count <= 1000 else { throw invalid(name, "too many") }
        }
        return texts
    }

    private static func types(_ name: String, _ reader: inout JSONReader) throws -> [String] {
        let types = try texts(name, &reader).filter { !$0.hasPrefix("fault:") }
        guard types.count <= 50 else { throw Refusal(message: "Too many types in \(name): at most 50.", field: name) }
        for type in types where !NewTypes.all.contains(type) {
            throw Refusal(message: "Unsupported types: \(type.prefix(100)).", field: name)
        }
        return types
    }

    private static func area(
        _ name: String, _ reader: inout JSONReader, circle: Bool, rectangle: Bool
    ) throws -> Area? {
        guard try reader.enterObject() else { throw invalid(name, "message") }
        var area: Area?
        while let key = try reader.nextKey() {
            let part = try key.string()
            guard part == "circle" && circle || part == "rectangle" && rectangle else { throw unknown(part) }
            guard area == nil else { throw invalid(name, "oneof field 'type' is already set") }
            area = part == "circle" ? try Self.circle(name, &reader) : try Self.box(name, &reader)
        }
        return area
    }

    private static func circle(_ name: String, _ reader: inout JSONReader) throws -> Area {
        guard try reader.enterObject() else { throw invalid(name, "message") }
        var (center, radius) = ((0.0, 0.0), 0.0)
        while let key = try reader.nextKey() {
            switch try key.string() {
            case "center": center = try spot(name, &reader)
            case "radius":
                guard let number = try reader.double() else { throw invalid("\(name).circle.radius", "TYPE_DOUBLE") }
                radius = number
            case let other: throw unknown(other)
            }
        }
        return .circle(latitude: center.0, longitude: center.1, radius: radius)
    }

    private static func box(_ name: String, _ reader: inout JSONReader) throws -> Area {
        guard try reader.enterObject() else { throw invalid(name, "message") }
        var (low, high) = ((0.0, 0.0), (0.0, 0.0))
        while let key = try reader.nextKey() {
            switch try key.string() {
            case "low": low = try spot(name, &reader)
            case "high": high = try spot(name, &reader)
            case let other: throw unknown(other)
            }
        }
        guard low.0 <= high.0 else { throw Refusal(message: "\(name): low is north of high.", field: name) }
        return .rectangle(south: low.0, west: low.1, north: high.0, east: high.1)
    }

    private static func spot(_ name: String, _ reader: inout JSONReader) throws -> (Double, Double) {
        guard try reader.enterObject() else { throw invalid(name, "message") }
        var (latitude, longitude) = (0.0, 0.0)
        while let key = try reader.nextKey() {
            switch try key.string() {
            case "latitude": latitude = try reader.double() ?? .infinity
            case "longitude": longitude = try reader.double() ?? .infinity
            case let other: throw unknown(other)
            }
        }
        guard abs(latitude) <= 90, abs(longitude) <= 180 else {
            throw Refusal(
                message: "\(name): latitude must be within -90...90, longitude within -180...180.", field: name)
        }
        return (latitude, longitude)
    }
}
