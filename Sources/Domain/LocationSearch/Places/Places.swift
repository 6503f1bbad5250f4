/// The places of one answer, in their original order.
///
/// They are kept in three blocks of memory, whatever their number: rows of one size, the concatenated texts of the rows,
/// and their types. A `Place` has up to a dozen strings, each of which must be allocated and freed, so it is made only on
/// demand. Code that writes many places reads rows and bytes (`utf8`) instead.
public struct Places: Sendable {
    /// The position of a text in its list. It is meaningless in another list.
    public struct Text: Sendable {
        @usableFromInline fileprivate(set) var start: UInt32 = 0
        /// The length in bytes.
        @usableFromInline fileprivate(set) var count: UInt32 = 0

        /// The empty text.
        public init() {}

        /// A list stays below 4 GB: an answer has at most 2 MB (`HTTPConfiguration.maxResponseBytes`), and its texts are shorter.
        @usableFromInline
        init(_ range: Range<Int>) {
            (start, count) = (UInt32(range.lowerBound), UInt32(range.count))  // bounded: see above
        }

        public var isEmpty: Bool { count == 0 }

        @inlinable var range: Range<Int> { Int(start)..<Int(start) + Int(count) }

        /// Returns the text without its first bytes, which must end at a character boundary.
        public func dropFirst(_ bytes: Int) -> Text {
            let dropped = Swift.min(UInt32(clamping: bytes), count)
            var rest = self
            rest.start += dropped
            rest.count -= dropped
            return rest
        }
    }

    /// The types of one place, or the lines of its opening hours, which are adjacent in their list.
    public struct Types: Sendable {
        fileprivate var start: UInt32 = 0
        @usableFromInline fileprivate(set) var count: UInt32 = 0

        public init() {}

        @inlinable public var isEmpty: Bool { count == 0 }

        fileprivate var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
    }

    /// A place whose texts are in the list. The members are those of `Place`.
    public struct Row: Sendable {
        public var id = Text()
        public var provider: ProviderID
        public var name = Text()
        public var category: Text?
        public var types = Types()
        public var location: Coordinate?
        public var distanceMeters: Double?
        public var address: Text?
        public var imageURL: Text?
        public var url: Text?
        public var rating: Double?
        public var ratingCount: Int?
        public var priceLevel: Int?
        public var openNow: Bool?
        public var business = (status: nil as BusinessStatus?, openingHours: Types())

        public init(provider: ProviderID) { self.provider = provider }
    }

    public private(set) var rows: [Row] = []
    @usableFromInline private(set) var texts: [UInt8] = []
    private var types: [Text] = []

    public init() {}

    public init(_ places: some Sequence<Place>) {
        for place in places { append(place) }
    }

    // MARK: Filling

    /// Reserves memory for the expected places.
    public mutating func reserve(places: Int, textBytes: Int) {
        rows.reserveCapacity(places)
        types.reserveCapacity(2 * places)
        texts.reserveCapacity(textBytes)
    }

    /// - Parameter write: appends valid UTF-8 and removes nothing. Bytes appended before an error are dropped.
    @inlinable
    public mutating func add<E: Error>(_ write: (inout [UInt8]) throws(E) -> Void) throws(E) -> Text {
        let start = texts.count
        do throws(E) {
            try write(&texts)
        } catch {
            texts.removeSubrange(start...)
            throw error
        }
        return Text(start..<texts.count)
    }

    public mutating func add(_ text: String) -> Text { add { $0.append(contentsOf: text.utf8) } }

    /// - Parameter list: of the next row to be appended. All its texts must be added consecutively.
    public mutating func add(_ text: Text, to list: inout Types) {
        if list.count == 0 { list.start = UInt32(clamping: types.count) }
        types.append(text)
        list.count += 1
        assert(list.range.upperBound == types.count)
    }

    /// - Parameter place: a row whose texts and types were added to this list.
    public mutating func append(_ place: Row) { rows.append(place) }

    public mutating func append(_ place: Place) {
        var row = Row(provider: place.provider)
        row.id = add(place.id)
        row.name = add(place.name)
        row.category = place.category.map { add($0) }
        for type in place.types { add(add(type), to: &row.types) }
        row.location = place.location
        row.distanceMeters = place.distanceMeters
        row.address = place.address.map { add($0) }
        row.imageURL = place.imageURL.map { add($0) }
        row.url = place.url.map { add($0) }
        row.rating = place.rating
        row.ratingCount = place.ratingCount
        row.priceLevel = place.priceLevel
        row.openNow = place.openNow
        row.business.status = place.business.status
        for line in place.business.openingHours { add(add(line), to: &row.business.openingHours) }
        append(row)
    }

    // MARK: Changing

    /// Keeps the first places and drops the others.
    public mutating func keepFirst(_ limit: Int) {
        if rows.count > limit { rows.removeLast(rows.count - Swift.max(limit, 0)) }
    }

    public mutating func removeAll(where isOut: (Row) -> Bool) { rows.removeAll(where: isOut) }

    /// Sets the distance from `centre` for each place that has a location.
    public mutating func measureDistances(from centre: Coordinate) {
        for index in rows.indices {
            if let location = rows[index].location { rows[index].distanceMeters = centre.distance(to: location) }
        }
    }

    /// Frees unused reserved memory, for a list that is kept long. Lists that share their memory with this one keep theirs.
    public mutating func compact() {
        Self.compact(&rows)
        Self.compact(&texts)
        Self.compact(&types)
    }

    private static func compact<Element>(_ array: inout [Element]) {
        guard array.capacity > array.count + array.count / 8 else { return }
        var exact: [Element] = []
        exact.reserveCapacity(array.count)
        exact.append(contentsOf: array)
        array = exact
    }

    // MARK: Reading

    /// The memory of the list in bytes, without unused reserved memory.
    public var byteCount: Int {
        rows.count * MemoryLayout<Row>.stride + types.count * MemoryLayout<Text>.stride + texts.count
    }

    /// Returns a text's bytes, which are valid UTF-8.
    @inlinable
    @_lifetime(borrow self)
    public func utf8(_ text: Text) -> Span<UInt8> { texts.span.extracting(text.range) }

    /// The bytes of all texts, including those of dropped places.
    public var allTexts: Span<UInt8> {
        @_lifetime(borrow self)
        get { texts.span }
    }

    public func areEqual(_ first: Text, _ second: Text) -> Bool {
        guard first.count == second.count else { return false }
        // Compared from the end, where ids nearly always differ first.
        var (index, other) = (first.range.upperBound, second.range.upperBound)
        while index > first.range.lowerBound {
            (index, other) = (index - 1, other - 1)
            guard texts[index] == texts[other] else { return false }
        }
        return true
    }

    /// Returns a number in 0...63 made from the last bytes. Equal texts have equal numbers, and the ids of one answer
    /// mostly have different ones.
    public func fingerprint(of text: Text) -> Int {
        let range = text.range
        var mixed: UInt8 = 0
        for index in Swift.max(range.lowerBound, range.upperBound - 4)..<range.upperBound {
            mixed = mixed &* 31 &+ texts[index]
        }
        return Int(mixed & 63)
    }

    /// - Parameter prefix: ASCII text.
    public func hasPrefix(_ text: Text, _ prefix: String) -> Bool { texts[text.range].starts(with: prefix.utf8) }

    /// - Parameter suffix: ASCII text.
    public func hasSuffix(_ text: Text, _ suffix: String) -> Bool {
        let suffix = suffix.utf8.span
        let start = text.range.upperBound - suffix.count
        guard start >= text.range.lowerBound else { return false }
        // Compared from the end, where file names nearly always differ first.
        for index in suffix.indices.reversed() where texts[start + index] != suffix[index] { return false }
        return true
    }

    @_lifetime(borrow self)
    public func texts(in list: Types) -> Span<Text> { types.span.extracting(list.range) }

    public func firstType(of place: Row) -> Text? { place.types.isEmpty ? nil : types[place.types.range.lowerBound] }

    public func string(_ text: Text) -> String { String(decoding: texts[text.range], as: UTF8.self) }
}

extension Places: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }

    public subscript(index: Int) -> Place {
        let row = rows[index]
        let (types, hours) = (texts(in: row.types), texts(in: row.business.openingHours))
        return Place(
            id: string(row.id), provider: row.provider, name: string(row.name), category: row.category.map(string),
            types: types.indices.map { string(types[$0]) }, location: row.location, distanceMeters: row.distanceMeters,
            address: row.address.map(string), imageURL: row.imageURL.map(string), url: row.url.map(string),
            rating: row.rating, ratingCount: row.ratingCount, priceLevel: row.priceLevel, openNow: row.openNow,
            business: .init(status: row.business.status, openingHours: hours.indices.map { string(hours[$0]) }))
    }
}

/// Lists are equal if their places are, whatever their memory layout.
extension Places: Hashable {
    public static func == (left: Places, right: Places) -> Bool { left.elementsEqual(right) }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for place in self { hasher.combine(place) }
    }
}

extension Places: ExpressibleByArrayLiteral {
    public init(arrayLiteral places: Place...) { self.init(places) }
}
