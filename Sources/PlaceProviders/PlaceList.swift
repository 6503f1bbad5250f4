import JSON
import LocationSearch

/// Gathers places of an answer: what cannot be read is left out and counted, an id that comes twice counts once.
struct PlaceList {
    var places = Places()
    private(set) var unreadable = 0
    /// The fingerprints of all ids, a bit for each.
    private var fingerprints = 0 as UInt64
    /// Of all places, once there are many.
    private var ids: Set<String> = []

    init() {}

    /// - Parameter body: that it will be read from; about an eighth is wanted.
    init(of body: [UInt8]) { places.reserve(places: 20, textBytes: body.count / 8) }

    /// - Parameter place: its texts are in `places`.
    mutating func add(_ place: Places.Row) {
        if isNew(place.id) { places.append(place) }
    }

    /// - Parameter place: `nil`: could not be read.
    mutating func add(_ place: Places.Row?) {
        if let place { add(place) } else { addUnreadable() }
    }

    mutating func addUnreadable() { unreadable += 1 }

    /// Lists are short (100 at most), where a scan beats a set; a body may still hold tens of thousands of entries.
    private mutating func isNew(_ id: Places.Text) -> Bool {
        let bit = 1 as UInt64 &<< UInt64(places.fingerprint(of: id))
        defer { fingerprints |= bit }
        if places.count < 128 {
            return fingerprints & bit == 0 || !places.rows.contains { places.areEqual($0.id, id) }
        }
        if ids.isEmpty { ids = Set(places.rows.map { places.string($0.id) }) }
        return ids.insert(places.string(id)).inserted
    }

    /// Whether there were entries and not one could be read.
    var isHopeless: Bool { places.isEmpty && unreadable > 0 }
}

extension JSONReader {
    /// A string that says something: `nil` when it is empty, none, or no valid text.
    mutating func wanted() throws(JSONError) -> String? {
        do throws(JSONError) {
            guard let text = try text(), !text.isEmpty else { return nil }
            return try text.string()
        } catch {
            if error.isInText { return nil }
            throw error
        }
    }

    /// The same, kept among the texts of `places`.
    mutating func wanted(in places: inout Places) throws(JSONError) -> Places.Text? {
        let text = try places.add { texts throws(JSONError) in try appendText(to: &texts) }
        return text.isEmpty ? nil : text
    }

    /// An array's texts as the types of `place`; none when the value is no array.
    mutating func wantedTypes(of place: inout Places.Row, in places: inout Places) throws(JSONError) {
        place.types = Places.Types()
        guard try enterArray() else { return }
        while try nextElement() {
            if let type = try wanted(in: &places) { places.add(type, to: &place) }
        }
    }

    /// Strings of an array; `[]` when the value is none.
    mutating func wantedStrings() throws(JSONError) -> [String] {
        var strings: [String] = []
        guard try enterArray() else { return strings }
        while try nextElement() {
            if let text = try wanted() { strings.append(text) }
        }
        return strings
    }

    /// An object's member, read as text; the other members are skipped.
    mutating func wantedMember(_ name: StaticString) throws(JSONError) -> String? {
        var value: String?
        guard try enterObject() else { return nil }
        while let key = try nextKey() {
            if name ~= key { value = try wanted() } else { try skip() }
        }
        return value
    }

    /// The same, kept among the texts of `places`.
    mutating func wantedMember(_ name: StaticString, in places: inout Places) throws(JSONError) -> Places.Text? {
        var value: Places.Text?
        guard try enterObject() else { return nil }
        while let key = try nextKey() {
            if name ~= key { value = try wanted(in: &places) } else { try skip() }
        }
        return value
    }

    /// The only one of an object's members that counts, as text.
    mutating func wanted<Member>(
        _ members: borrowing JSONMembers<Member>, in places: inout Places
    ) throws(JSONError) -> Places.Text? {
        var value: Places.Text?
        guard try enterObject() else { return nil }
        while try nextMember(of: members) != nil { value = try wanted(in: &places) }
        return value
    }

    /// An object with two numbers, under the names the provider uses; `nil` when either is missing or out of range.
    mutating func coordinate(_ latitudeName: StaticString, _ longitudeName: StaticString) throws(JSONError)
        -> Coordinate?
    {
        var (latitude, longitude): (Double?, Double?) = (nil, nil)
        guard try enterObject() else { return nil }
        while let key = try nextKey() {
            if latitudeName ~= key {
                latitude = try lenientDouble()
            } else if longitudeName ~= key {
                longitude = try lenientDouble()
            } else {
                try skip()
            }
        }
        return Coordinate(latitude, longitude)
    }
}

extension Coordinate {
    /// `nil` when either is missing or out of range.
    init?(_ latitude: Double?, _ longitude: Double?) {
        guard let latitude, let longitude else { return nil }
        self.init(latitude: latitude, longitude: longitude)
        if !isValid { return nil }
    }
}

extension [UInt8] {
    /// The first byte that is no blank, behind a byte order mark.
    var firstMeaningfulByte: UInt8? {
        let start = starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        return self[start...].first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
    }
}
