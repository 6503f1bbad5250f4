/// Members of an object, each with its name. `nil` members are omitted.
extension JSONWriter {
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        key(name)
        value(text)
    }

    /// Writes a member with a string from its bytes, which must be valid UTF-8.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, utf8 text: Span<UInt8>) {
        key(name)
        value(utf8: text)
    }

    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, _ number: Int?) {
        guard let number else { return }
        key(name)
        value(number)
    }

    /// Writes a member with a number; omits infinity and NaN.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, _ number: Double?) {
        guard let number, number.isFinite else { return }
        key(name)
        value(number)
    }

    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, _ flag: Bool?) {
        guard let flag else { return }
        key(name)
        value(flag)
    }

    /// Writes a member with an array of strings; omits an empty one.
    public mutating func member(_ name: StaticString, _ texts: [String]) {
        guard !texts.isEmpty else { return }
        key(name)
        beginArray()
        for text in texts { value(text) }
        endArray()
    }

    // MARK: Nesting

    /// Returns the text of one object, whose members `body` writes.
    /// - Parameter capacity: The initial capacity in bytes. It grows as needed.
    public static func object(capacity: Int, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter(capacity: capacity)
        json.object(body)
        return json.finish()
    }

    public static func objectText(capacity: Int, _ body: (inout JSONWriter) -> Void) -> String {
        String(decoding: object(capacity: capacity, body), as: UTF8.self)
    }

    /// Writes an object, whose members `body` writes.
    @inlinable
    public mutating func object(_ body: (inout JSONWriter) -> Void) {
        beginObject()
        body(&self)
        endObject()
    }

    /// Writes a member with an object, whose members `body` writes.
    @inlinable
    public mutating func object(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        key(name)
        object(body)
    }

    /// Writes a member with an array, whose values `body` writes.
    @inlinable
    public mutating func array(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        key(name)
        beginArray()
        body(&self)
        endArray()
    }

    /// Writes a member with an array of one value for each element.
    @inlinable
    public mutating func array<Element>(
        _ name: StaticString, of elements: some Sequence<Element>, _ body: (Element, inout JSONWriter) -> Void
    ) {
        array(name) { json in
            for element in elements { body(element, &json) }
        }
    }

    /// Writes a member with an array of one object for each element, whose members `body` writes.
    @inlinable
    public mutating func objects<Element>(
        _ name: StaticString, of elements: some Sequence<Element>, _ body: (Element, inout JSONWriter) -> Void
    ) {
        array(name, of: elements) { element, json in json.object { body(element, &$0) } }
    }
}
