internal import JSON

extension InvalidArgument {
    /// Returns the error for an unknown member.
    static func unknownMember(_ name: String) -> InvalidArgument {
        InvalidArgument(
            message: "Invalid JSON payload received. Unknown name \"\(name.prefix(100))\": Cannot find field.",
            field: String(name.prefix(100)))
    }

    /// Returns the error for a member with a value of the wrong type.
    static func wrongType(of name: String, expected type: String) -> InvalidArgument {
        InvalidArgument(message: "Invalid value at '\(name)' (\(type)).", field: name)
    }
}

/// Reads the values of members with the checks of Google Places (New). Each function throws `InvalidArgument` for a
/// value of the wrong type, and `JSONError` for invalid JSON.
extension JSONReader {
    mutating func textMember(_ name: String) throws -> String {
        guard let text = try string() else { throw InvalidArgument.wrongType(of: name, expected: "TYPE_STRING") }
        return text
    }

    mutating func flagMember(_ name: String) throws -> Bool {
        guard let flag = try bool() else { throw InvalidArgument.wrongType(of: name, expected: "TYPE_BOOL") }
        return flag
    }

    mutating func numberMember(_ name: String) throws -> Double {
        guard let number = try double() else { throw InvalidArgument.wrongType(of: name, expected: "TYPE_DOUBLE") }
        return number
    }

    mutating func integerMember(_ name: String) throws -> Int {
        guard let number = try lenientInt(), number.magnitude <= Int32.max else {
            throw InvalidArgument.wrongType(of: name, expected: "TYPE_INT32")
        }
        return number
    }

    mutating func textsMember(_ name: String) throws -> [String] {
        guard try kind() == .array, try enterArray() else {
            throw InvalidArgument.wrongType(of: name, expected: "TYPE_STRING")
        }

        var texts: [String] = []
        while try nextElement() {
            texts.append(try textMember(name))
            guard texts.count <= 1000 else { throw InvalidArgument.wrongType(of: name, expected: "too many") }
        }
        return texts
    }

    /// Reads a list of place types, ignoring `fault:` texts.
    mutating func typesMember(_ name: String) throws -> [String] {
        let types = try textsMember(name).filter { !$0.hasPrefix("fault:") }
        guard types.count <= 50 else {
            throw InvalidArgument(message: "Too many types in \(name): at most 50.", field: name)
        }
        for type in types where !GooglePlacesTypes.all.contains(type) {
            throw InvalidArgument(message: "Unsupported types: \(type.prefix(100)).", field: name)
        }
        return types
    }

    // MARK: - Areas

    /// Reads a message with at most one of the allowed shapes; `nil` if it has none.
    mutating func areaMember(
        _ name: String, allowing shapes: Set<GooglePlacesShape>
    ) throws -> GooglePlacesSearchBody.Area? {
        guard try enterObject() else { throw InvalidArgument.wrongType(of: name, expected: "message") }

        var area: GooglePlacesSearchBody.Area?
        while let key = try nextKey() {
            let part = try key.string()
            guard let shape = GooglePlacesShape(rawValue: part), shapes.contains(shape) else {
                throw InvalidArgument.unknownMember(part)
            }
            guard area == nil else {
                throw InvalidArgument.wrongType(of: name, expected: "oneof field 'type' is already set")
            }
            area =
                switch shape {
                case .circle: try circle(in: name)
                case .rectangle: try rectangle(in: name)
                }
        }

        return area
    }

    private mutating func circle(in name: String) throws -> GooglePlacesSearchBody.Area {
        guard try enterObject() else { throw InvalidArgument.wrongType(of: name, expected: "message") }

        var (center, radius) = ((latitude: 0.0, longitude: 0.0), 0.0)
        while let key = try nextKey() {
            switch try key.string() {
            case "center": center = try position(in: name)
            case "radius": radius = try numberMember("\(name).circle.radius")
            case let other: throw InvalidArgument.unknownMember(other)
            }
        }
        return .circle(latitude: center.latitude, longitude: center.longitude, radius: radius)
    }

    private mutating func rectangle(in name: String) throws -> GooglePlacesSearchBody.Area {
        guard try enterObject() else { throw InvalidArgument.wrongType(of: name, expected: "message") }

        var (low, high) = ((latitude: 0.0, longitude: 0.0), (latitude: 0.0, longitude: 0.0))
        while let key = try nextKey() {
            switch try key.string() {
            case "low": low = try position(in: name)
            case "high": high = try position(in: name)
            case let other: throw InvalidArgument.unknownMember(other)
            }
        }

        guard low.latitude <= high.latitude else {
            throw InvalidArgument(message: "\(name): low is north of high.", field: name)
        }

        return .rectangle(
            south: low.latitude, west: low.longitude, north: high.latitude, east: high.longitude)
    }

    private mutating func position(in name: String) throws -> (latitude: Double, longitude: Double) {
        guard try enterObject() else { throw InvalidArgument.wrongType(of: name, expected: "message") }

        var (latitude, longitude) = (0.0, 0.0)
        while let key = try nextKey() {
            switch try key.string() {
            // A value that is not a number fails the range check below.
            case "latitude": latitude = try double() ?? .infinity
            case "longitude": longitude = try double() ?? .infinity
            case let other: throw InvalidArgument.unknownMember(other)
            }
        }

        guard latitude.magnitude <= 90, longitude.magnitude <= 180 else {
            throw InvalidArgument(
                message: "\(name): latitude must be within -90...90, longitude within -180...180.", field: name)
        }

        return (latitude, longitude)
    }
}

/// The shapes of an area. The raw value is the name of the member.
enum GooglePlacesShape: String {
    case circle, rectangle
}
