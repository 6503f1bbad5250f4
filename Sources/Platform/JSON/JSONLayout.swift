internal import CScan

/// How a provider writes the objects of a list. If an object has the same layout as earlier ones, it is read by
/// comparing the bytes between the values, without searching for keys:
///
///     var layout = JSONLayout(["id", "genre.name"])
///     var fields = JSONFields(of: layout)
///     while try reader.nextElement() {
///         if try reader.follow(layout, into: &fields) { ... }      // fields[0], fields[1]
///         else { ... }                                            // read as any object; then learn(...)
///     }
///
/// A layout is learned from one object, and fits others whose members have the same order. Members may be missing, and
/// values may be of another kind. If an object differs in any other way, the caller reads it without a layout.
/// Therefore a layout never changes the result: it is a hint, and may be kept from one input to the next.
public struct JSONLayout: Sendable {
    /// The wanted members: paths from the object to a value, such as `genre.name`.
    let paths: [String]
    /// The steps of the last learned object; empty if there is none, or it cannot be followed.
    private(set) var steps: [locsearch_step] = []
    /// The numbers of objects since `steps` were learned that had this layout, and that had not.
    private var (hits, misses) = (0, 0)
    /// The number of misses after which another object is learned.
    private var missesAllowed = 1

    /// Makes a layout that has not learned any object yet.
    /// - Parameter paths: The wanted members; the fields have the same numbers.
    public init(_ paths: [String]) { self.paths = paths }

    /// Counts an object with this layout.
    mutating func noteHit() { hits &+= 1 }

    /// Learns the layout of an object that could not be followed.
    ///
    /// Not every such object is learned: learning takes as long as reading, and objects may be of several kinds. A
    /// layout with hits is replaced only by a longer one, because additional members of a layout may be missing in an
    /// object.
    /// - Parameter object: The bytes of one JSON object, which was read without an error.
    public mutating func learn(from object: Span<UInt8>) {
        misses += 1
        guard misses >= missesAllowed else { return }
        missesAllowed = min(missesAllowed * 2, 1024)

        let learned = JSONLayoutLearner.steps(of: object, paths: paths)
        if learned.count > steps.count || hits == 0 { steps = learned }
        (hits, misses) = (0, 0)
    }
}

/// The values found in an object, numbered like the layout's paths.
public struct JSONFields {
    var values: [locsearch_field]

    /// Makes fields that are all missing.
    public init(of layout: borrowing JSONLayout) {
        // `Array(repeating:count:)` would look up the type of the array's memory, which takes 400 instructions.
        values = []
        values.append(contentsOf: repeatElement(locsearch_field(), count: layout.paths.count))
    }

    /// Marks all fields as missing.
    public mutating func removeAll() {
        for index in values.indices { values[index] = locsearch_field() }
    }

    /// The value of the path with this number.
    public subscript(number: Int) -> JSONField {
        get { JSONField(value: values[number]) }
        set { values[number] = newValue.value }
    }

    /// The value of the path whose number is the raw value of a case.
    @inlinable
    public subscript(field: some RawRepresentable<Int>) -> JSONField {
        get { self[field.rawValue] }
        set { self[field.rawValue] = newValue }
    }
}

/// The position of a value in the input, from which its reader reads it later.
public struct JSONField {
    let value: locsearch_field

    init(value: locsearch_field) { self.value = value }

    /// Makes a missing field.
    public init() { value = locsearch_field() }

    /// True for a string, even an empty one.
    public var isText: Bool { value.kind == locsearch_text || value.kind == locsearch_escaped_text }
    /// True for a value that is missing, not a string, or an empty string.
    public var isEmptyText: Bool { !isText || value.start == value.end }
}

extension JSONReader {
    /// Reads the next value with a layout.
    /// - Parameter fields: All missing. After a failure they may have any content.
    /// - Returns: `false` if the value is not an object that fits the layout, or is invalid. Then no input was
    ///   consumed.
    public mutating func follow(_ layout: inout JSONLayout, into fields: inout JSONFields) -> Bool {
        guard !layout.steps.isEmpty, let start = try? input.token(from: offset),
            let end = index.walk(from: start, along: layout.steps, in: input.bytes, fields: &fields.values)
        else { return false }

        layout.noteHit()
        offset = end
        return true
    }

    /// Returns a part of the input.
    /// - Parameter range: A range within the input, such as that of an object with its braces.
    @_lifetime(copy self)
    public func bytes(in range: Range<Int>) -> Span<UInt8> { input.bytes.extracting(range) }

    /// Skips a value of any kind and returns its position.
    public mutating func field() throws(JSONError) -> JSONField {
        guard try token() == UInt8(ascii: "\"") else {
            let start = offset
            try skip()
            return JSONField(value: locsearch_field(start: start, end: offset, kind: locsearch_other))
        }

        let range = try input.textRange(from: offset, using: &index)
        offset = range.end &+ 1
        let kind = range.hasEscapes ? locsearch_escaped_text : locsearch_text
        return JSONField(value: locsearch_field(start: range.start, end: range.end, kind: kind))
    }

    /// Appends the UTF-8 of a field's string to `target`; nothing if it is not a string.
    public func append(_ field: JSONField, to target: inout [UInt8]) {
        guard field.isText else { return }
        let value = field.value
        let hasEscapes = value.kind == locsearch_escaped_text
        input.append(JSONBytes.TextRange(start: value.start, end: value.end, hasEscapes: hasEscapes), to: &target)
    }

    /// Returns the number in a field or in its string, see `lenientDouble()`; `nil` if there is none.
    public func lenientDouble(_ field: JSONField) -> Double? {
        let value = field.value
        if field.isText {
            let hasEscapes = value.kind == locsearch_escaped_text
            let text = input.text(JSONBytes.TextRange(start: value.start, end: value.end, hasEscapes: hasEscapes))
            return text.lenientNumber { reader throws(JSONError) in try reader.double() }
        }

        // A value that is not a string is a number exactly if its first byte may begin one.
        guard value.kind == locsearch_other, JSONNumber.mayBegin(with: input.byte(value.start)),
            let number = try? input.number(from: value.start)
        else { return nil }
        return double(number, at: value.start..<value.end)
    }
}
