import Basics
import HTTPTransport
import JSON
import LocationSearch

/// Gathers the places of an answer. What cannot be read is left out and counted, and an id that comes twice counts once.
struct PlaceList {
    /// The places so far, and the texts of the one that is being read.
    var places = Places()
    /// The number of entries that could not be read.
    private(set) var unreadable = 0
    /// The fingerprints of all ids, a bit for each.
    private var fingerprints = 0 as UInt64
    /// The ids of all places, once there are many.
    private var ids: Set<ExactText> = []

    /// An empty list.
    init() {}

    /// An empty list with room for an answer's places.
    /// - Parameter body: the answer, of which the texts that are wanted take about an eighth.
    init(of body: [UInt8]) { places.reserve(places: 20, textBytes: body.count / 8) }

    /// Adds a place whose texts are in `places`, unless one with its id is there.
    mutating func add(_ place: Places.Row) {
        if isNew(place.id) { places.append(place) }
    }

    /// Adds a place, or counts an entry that could not be read.
    /// - Parameter place: `nil` for such an entry.
    mutating func add(_ place: Places.Row?) {
        if let place { add(place) } else { addUnreadable() }
    }

    /// Counts an entry that could not be read.
    mutating func addUnreadable() { unreadable += 1 }

    /// Returns true for an id that comes for the first time. Lists are short as a rule (100 places at most), where a scan
    /// beats a set, but a body may hold tens of thousands of entries.
    private mutating func isNew(_ id: Places.Text) -> Bool {
        let bit = 1 as UInt64 &<< UInt64(places.fingerprint(of: id))
        defer { fingerprints |= bit }

        if places.count < 128 {
            return fingerprints & bit == 0 || !places.rows.contains { places.areEqual($0.id, id) }
        }

        if ids.isEmpty { ids = Set(places.rows.map { ExactText(places.string($0.id)) }) }
        return ids.insert(ExactText(places.string(id))).inserted
    }

    /// True when there were entries and not one could be read.
    var isHopeless: Bool { places.isEmpty && unreadable > 0 }
}

extension JSONReader {
    /// Reads a string that says something; `nil` when the value is empty or no string.
    mutating func wanted() throws(JSONError) -> String? {
        guard let text = try text(), !text.isEmpty else { return nil }
        return text.repairedString()
    }

    /// Reads a string that says something and keeps it among the texts of `places`.
    mutating func wanted(in places: inout Places) throws(JSONError) -> Places.Text? {
        let text = try places.add { texts throws(JSONError) in try appendText(to: &texts) }
        return text.isEmpty ? nil : text
    }

    /// Reads a URL that a result may hold, and keeps it among the texts of `places`.
    mutating func wantedURL(in places: inout Places) throws(JSONError) -> Places.Text? {
        guard let url = try wanted(in: &places), WebAddress.isValid(places.utf8(url)) else { return nil }
        return url
    }

    /// Reads an array's texts as the types of `place`; there are none when the value is no array.
    mutating func wantedTypes(of place: inout Places.Row, in places: inout Places) throws(JSONError) {
        place.types = Places.Types()
        guard try enterArray() else { return }
        while try nextElement() {
            if let type = try wanted(in: &places) { places.add(type, to: &place) }
        }
    }

    /// Reads the strings of an array; there are none when the value is no array.
    mutating func wantedStrings() throws(JSONError) -> [String] {
        var strings: [String] = []
        guard try enterArray() else { return strings }
        while try nextElement() {
            if let text = try wanted() { strings.append(text) }
        }
        return strings
    }

    /// Reads one member of an object with `read`, and skips the others.
    @inline(__always)
    mutating func member<Value>(
        _ name: StaticString, _ read: (inout JSONReader) throws(JSONError) -> Value?
    ) throws(JSONError) -> Value? {
        var value: Value?
        guard try enterObject() else { return nil }
        while let key = try nextKey() {
            if name ~= key { value = try read(&self) } else { try skip() }
        }
        return value
    }

    mutating func wantedMember(_ name: StaticString) throws(JSONError) -> String? {
        try member(name) { reader throws(JSONError) in try reader.wanted() }
    }

    /// Reads one member of an object as text, which it keeps among the texts of `places`.
    mutating func wantedMember(_ name: StaticString, in places: inout Places) throws(JSONError) -> Places.Text? {
        try member(name) { reader throws(JSONError) in try reader.wanted(in: &places) }
    }

    /// Reads the only member of an object that counts; the field is missing when there is none.
    mutating func field<Member>(_ members: borrowing JSONMembers<Member>) throws(JSONError) -> JSONField {
        var field = JSONField()
        guard try enterObject() else { return field }
        while try nextMember(of: members) != nil { field = try self.field() }
        return field
    }

    /// Keeps a field's string that says something among the texts of `places`.
    func wanted(_ field: JSONField, in places: inout Places) -> Places.Text? {
        if field.isEmptyText { return nil }
        let text = places.add { append(field, to: &$0) }
        return text.isEmpty ? nil : text
    }

    /// Keeps a field's URL among the texts of `places`, if a result may hold it.
    func wantedURL(_ field: JSONField, in places: inout Places) -> Places.Text? {
        guard let url = wanted(field, in: &places), WebAddress.isValid(places.utf8(url)) else { return nil }
        return url
    }

    /// Reads an object with two numbers under the names that the provider uses; `nil` when either is missing or out of
    /// range.
    mutating func coordinate(
        latitude latitudeName: StaticString, longitude longitudeName: StaticString
    ) throws(JSONError) -> Coordinate? {
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
        return Coordinate(latitude: latitude, longitude: longitude)
    }
}

extension HTTPResponse {
    /// Reads the body. Where its strings hold control characters, reads it again with U+FFFD in their place: the answer has
    /// been paid for.
    @inline(__always)
    func readBody(_ read: ([UInt8]) throws(JSONError) -> Void) throws(JSONError) {
        do throws(JSONError) {
            try read(body)
        } catch {
            guard error.kind == .controlCharacter else { throw error }
            try read(JSONText.replacingControlCharacters(in: body))
        }
    }
}

extension Coordinate {
    /// A position of a provider's numbers; `nil` when either is missing or out of range.
    init?(latitude: Double?, longitude: Double?) {
        guard let latitude, let longitude else { return nil }
        self.init(latitude: latitude, longitude: longitude)
        if !isValid { return nil }
    }
}

extension [UInt8] {
    /// The first byte that is no blank, behind a byte order mark if there is one.
    var firstMeaningfulByte: UInt8? {
        let start = starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        return self[start...].first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
    }
}
