internal import CScan

/// How a provider writes the objects of a list. One that is written as the ones before it is read by comparing what is
/// between the values, without looking for keys:
///
///     var layout = JSONLayout(["id", "genre.name"])
///     var fields = JSONFields(of: layout)
///     while try reader.nextElement() {
///         if try reader.follow(layout, into: &fields) { ... }      // fields[0], fields[1]
///         else { ... }                                            // read as any object; then learn(...)
///     }
///
/// A layout is learned from one object, and holds for others whose members come in the same order. Members may be missing,
/// and values may be of another kind; anything else is left to the caller, who reads the object as if there was no layout.
/// So a layout never changes what is read: it is a hint, and may be kept from one input to the next.
public struct JSONLayout: Sendable {
    /// The members that are wanted: paths from the object to a value, such as `genre.name`.
    let paths: [String]
    /// The steps of the object that was learned last; empty when there is none, or when it cannot be followed.
    private(set) var steps: [locsearch_step] = []
    /// The numbers of objects since `steps` were learned, by whether they were written that way.
    private var (hits, misses) = (0, 0)
    /// The number of misses after which another object is learned.
    private var missesAllowed = 1

    /// Makes a layout that has learned nothing yet.
    /// - Parameter paths: the members that are wanted, whose numbers are those of the fields.
    public init(_ paths: [String]) { self.paths = paths }

    /// Notes that an object was written in this way.
    mutating func noteHit() { hits &+= 1 }

    /// Learns how an object is written, from one that could not be followed.
    ///
    /// Not each of them is learned: learning takes as long as reading, and objects may be of several kinds. A layout that
    /// still serves is replaced by longer ones only, because the members that it has too many may be missing.
    /// - Parameter object: the bytes of one JSON object, which have been read without an error.
    public mutating func learn(from object: Span<UInt8>) {
        misses += 1
        guard misses >= missesAllowed else { return }
        missesAllowed = min(missesAllowed * 2, 1024)

        let learned = JSONLayoutLearner.steps(of: object, paths: paths)
        if learned.count > steps.count || hits == 0 { steps = learned }
        (hits, misses) = (0, 0)
    }
}

/// The values that were found in an object, by the numbers of a layout's paths.
public struct JSONFields {
    var values: [locsearch_field]

    /// Makes fields that are all missing.
    public init(of layout: borrowing JSONLayout) {
        // Not `Array(repeating:count:)`, which looks up the type of the array's memory: 400 instructions.
        values = []
        values.append(contentsOf: repeatElement(locsearch_field(), count: layout.paths.count))
    }

    /// Makes all fields missing.
    public mutating func removeAll() {
        for index in values.indices { values[index] = locsearch_field() }
    }

    /// The value with a path's number.
    public subscript(number: Int) -> JSONField {
        get { JSONField(value: values[number]) }
        set { values[number] = newValue.value }
    }

    /// The value with the number that is the raw value of a case.
    @inlinable
    public subscript(field: some RawRepresentable<Int>) -> JSONField {
        get { self[field.rawValue] }
        set { self[field.rawValue] = newValue }
    }
}

/// The place of a value in the input, from which its reader reads it later.
public struct JSONField {
    let value: locsearch_field

    init(value: locsearch_field) { self.value = value }

    /// Makes the field that is missing.
    public init() { value = locsearch_field() }

    /// True for a string, however short.
    public var isText: Bool { value.kind == locsearch_text || value.kind == locsearch_escaped_text }
    /// True for a value that is missing, no string, or an empty one.
    public var isEmptyText: Bool { !isText || value.start == value.end }
}

extension JSONReader {
    /// Reads the next value along a layout.
    /// - Parameter fields: all missing. After a failure they may hold anything.
    /// - Returns: `false` when the value is no object that the layout fits, or is at fault. Nothing was consumed.
    public mutating func follow(_ layout: inout JSONLayout, into fields: inout JSONFields) -> Bool {
        guard !layout.steps.isEmpty, let start = try? input.token(from: offset),
            let end = index.walk(from: start, along: layout.steps, in: input.bytes, fields: &fields.values)
        else { return false }

        layout.noteHit()
        offset = end
        return true
    }

    /// Returns a part of the input.
    /// - Parameter range: is within the input, such as the places of an object's braces.
    @_lifetime(copy self)
    public func bytes(in range: Range<Int>) -> Span<UInt8> { input.bytes.extracting(range) }

    /// Skips a value of any kind and returns its place.
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

    /// Appends the UTF-8 of a field's string to `target`; nothing when it is no string.
    public func append(_ field: JSONField, to target: inout [UInt8]) {
        guard field.isText else { return }
        let value = field.value
        let hasEscapes = value.kind == locsearch_escaped_text
        input.append(JSONBytes.TextRange(start: value.start, end: value.end, hasEscapes: hasEscapes), to: &target)
    }

    /// Returns the number that a field is, or that its string holds, see `lenientDouble()`; `nil` when there is none.
    public func lenientDouble(_ field: JSONField) -> Double? {
        let value = field.value
        if field.isText {
            let hasEscapes = value.kind == locsearch_escaped_text
            let text = input.text(JSONBytes.TextRange(start: value.start, end: value.end, hasEscapes: hasEscapes))
            return text.lenientNumber { reader throws(JSONError) in try reader.double() }
        }

        // Of what is no text, only numbers begin as one.
        guard value.kind == locsearch_other, JSONNumber.mayBegin(with: input.byte(value.start)),
            let number = try? input.number(from: value.start)
        else { return nil }
        return double(number, at: value.start..<value.end)
    }
}
