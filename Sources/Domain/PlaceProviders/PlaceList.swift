import Basics
import HTTPTransport
import JSON
import LocationSearch

/// Collects the places of an answer. Unreadable entries are left out and counted, and a repeated id counts once.
struct PlaceList {
    /// The places so far, and the texts of the current one.
    var places = Places()
    /// The number of unreadable entries.
    private(set) var unreadable = 0
    /// The fingerprints of all ids, one bit each.
    private var fingerprints = 0 as UInt64
    /// The ids of all places, used only for long lists.
    private var ids: Set<ExactText> = []

    /// Makes an empty list.
    init() {}

    /// Makes an empty list with room for an answer's places.
    /// - Parameter body: the answer; the texts that are kept take about an eighth of it.
    init(of body: [UInt8]) { places.reserve(places: 20, textBytes: body.count / 8) }

    /// Adds a place whose texts are in `places`, unless its id is already there.
    mutating func add(_ place: Places.Row) {
        if isNew(place.id) { places.append(place) }
    }

    /// Adds a place, or counts an unreadable entry.
    /// - Parameter place: `nil` for an unreadable entry.
    mutating func add(_ place: Places.Row?) {
        if let place { add(place) } else { addUnreadable() }
    }

    /// Counts an unreadable entry.
    mutating func addUnreadable() { unreadable += 1 }

    /// Returns whether the id is new. Lists usually have at most 100 places, where a scan is faster than a set, but a body
    /// may hold tens of thousands of entries.
    private mutating func isNew(_ id: Places.Text) -> Bool {
        let bit = 1 as UInt64 &<< UInt64(places.fingerprint(of: id))
        defer { fingerprints |= bit }

        if places.count < 128 { return fingerprints & bit == 0 || !places.rows.contains { places.areEqual($0.id, id) } }

        if ids.isEmpty { ids = Set(places.rows.map { ExactText(places.string($0.id)) }) }
        return ids.insert(ExactText(places.string(id))).inserted
    }

    /// True if there were entries but none was readable.
    var isHopeless: Bool { places.isEmpty && unreadable > 0 }
}

extension JSONReader {
    /// Reads a non-empty string; `nil` if the value is empty or not a string.
    mutating func wanted() throws(JSONError) -> String? {
        guard let text = try text(), !text.isEmpty else { return nil }
        return text.repairedString()
    }

    /// Reads a non-empty string and adds it to the texts of `places`.
    mutating func wanted(in places: inout Places) throws(JSONError) -> Places.Text? {
        let text = try places.add { texts throws(JSONError) in try appendText(to: &texts) }
        return text.isEmpty ? nil : text
    }

    /// Reads a URL that a result may contain, and adds it to the texts of `places`.
    mutating func wantedURL(in places: inout Places) throws(JSONError) -> Places.Text? {
        guard let url = try wanted(in: &places), WebAddress.isValid(places.utf8(url)) else { return nil }
        return url
    }

    /// Reads an array's texts as the types of a place, or as its opening hours; none if the value is not an array.
    mutating func wantedTexts(in places: inout Places) throws(JSONError) -> Places.Types {
        var list = Places.Types()
        guard try enterArray() else { return list }
        while try nextElement() {
            if let text = try wanted(in: &places) { places.add(text, to: &list) }
        }
        return list
    }

    /// Reads the status of a business at Google; `nil` for one that is unknown to this version.
    mutating func businessStatus() throws(JSONError) -> BusinessStatus? {
        guard let text = try text() else { return nil }
        switch text {
        case "OPERATIONAL": return .operational
        case "CLOSED_TEMPORARILY": return .closedTemporarily
        case "CLOSED_PERMANENTLY": return .closedPermanently
        default: return nil
        }
    }

    /// Reads a place's usual opening hours at Google. The members have other names in its older API.
    /// - Returns: whether the place is open now; `nil` if the answer does not contain it.
    mutating func usualHours(of place: inout Places.Row, in places: inout Places) throws(JSONError) -> Bool? {
        var openNow: Bool?
        guard try enterObject() else { return nil }
        while let key = try nextKey() {
            switch key {
            case "openNow", "open_now": openNow = try bool()
            case "weekdayDescriptions", "weekday_text": place.business.openingHours = try wantedTexts(in: &places)
            default: try skip()
            }
        }
        return openNow
    }

    /// Reads the strings of an array; none if the value is not an array.
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

    /// Reads one member of an object as text, and adds it to the texts of `places`.
    mutating func wantedMember(_ name: StaticString, in places: inout Places) throws(JSONError) -> Places.Text? {
        try member(name) { reader throws(JSONError) in try reader.wanted(in: &places) }
    }

    /// Reads the only relevant member of an object; the field is missing if there is none.
    mutating func field<Member>(_ members: borrowing JSONMembers<Member>) throws(JSONError) -> JSONField {
        var field = JSONField()
        guard try enterObject() else { return field }
        while try nextMember(of: members) != nil { field = try self.field() }
        return field
    }

    /// Adds a field's non-empty string to the texts of `places`.
    func wanted(_ field: JSONField, in places: inout Places) -> Places.Text? {
        if field.isEmptyText { return nil }
        let text = places.add { append(field, to: &$0) }
        return text.isEmpty ? nil : text
    }

    /// Adds a field's URL to the texts of `places`, if a result may contain it.
    func wantedURL(_ field: JSONField, in places: inout Places) -> Places.Text? {
        guard let url = wanted(field, in: &places), WebAddress.isValid(places.utf8(url)) else { return nil }
        return url
    }

    /// Reads an object with two numbers under the provider's names; `nil` if either is missing or out of range.
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
    /// Reads the body. If its strings contain control characters, reads it again with U+FFFD in their place, because the
    /// answer has already been billed.
    @inline(__always)
    func readBody<Value>(_ read: ([UInt8]) throws(JSONError) -> Value) throws(JSONError) -> Value {
        do throws(JSONError) {
            return try read(body)
        } catch {
            guard error.kind == .controlCharacter else { throw error }
            return try read(JSONText.replacingControlCharacters(in: body))
        }
    }
}

extension Coordinate {
    /// Makes a position from a provider's numbers; `nil` if either is missing or out of range.
    init?(latitude: Double?, longitude: Double?) {
        guard let latitude, let longitude else { return nil }
        self.init(latitude: latitude, longitude: longitude)
        if !isValid { return nil }
    }
}

extension [UInt8] {
    /// The first byte that is not blank, after a byte order mark if there is one.
    var firstMeaningfulByte: UInt8? {
        let start = starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        return self[start...].first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
    }
}

/// The texts that the provider's terms require with an answer, without duplicates, in their original order.
struct Credits {
    private(set) var texts: [String]
    private var known: Set<ExactText>

    /// - Parameter source: the provider's own credit, which is always the first.
    init(_ source: String) {
        texts = [source]
        known = [ExactText(source)]
    }

    mutating func add(_ text: String) {
        if known.insert(ExactText(text)).inserted { texts.append(text) }
    }
}
