internal import JSON

// The JSON format of the fleet topic's messages. Each object lists its members once, and the list is used for writing
// and for reading.

/// The error for JSON that is not a message of this version.
struct UnknownFleetMessage: Error {}

/// The value of a message's member.
protocol FleetValue: SendableMetatype {
    /// - Throws: an error for a value of another type, or out of range.
    init(from reader: inout JSONReader) throws
    func write(to writer: inout JSONWriter)
}

/// A value that is an object. Members that are not in its list belong to later versions, and are ignored.
protocol FleetObject: FleetValue {
    /// The members, in the order in which they are written, which is by name.
    static var members: [MessageMember<Self>] { get }
    /// Makes an object whose members will be read.
    init()
    /// Checks an object after all its members were read.
    /// - Throws: an error if a member is invalid.
    mutating func validate() throws
}

struct MessageMember<Object>: Sendable {
    /// Not a `StaticString`: the JSON module would inline its handling of constant names for each member.
    fileprivate let name: String
    fileprivate let isRequired: Bool
    fileprivate let write: @Sendable (Object, inout JSONWriter) -> Void
    fileprivate let read: @Sendable (inout Object, inout JSONReader) throws -> Void

    /// Makes a required member.
    static func required<Value: FleetValue>(
        _ name: String, _ path: any WritableKeyPath<Object, Value> & Sendable
    ) -> Self {
        MessageMember(name: name, isRequired: true) { object, writer in
            writer.key(name)
            object[keyPath: path].write(to: &writer)
        } read: { object, reader in
            object[keyPath: path] = try Value(from: &reader)
        }
    }

    /// Makes an optional member. A missing or `null` member has the value `empty`.
    static func optional<Value: FleetValue & Equatable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<Object, Value> & Sendable, empty: Value
    ) -> Self {
        MessageMember(name: name, isRequired: false) { object, writer in
            let value = object[keyPath: path]
            guard value != empty else { return }
            writer.key(name)
            value.write(to: &writer)
        } read: { object, reader in
            object[keyPath: path] = try reader.skipNull() ? empty : Value(from: &reader)
        }
    }

    /// Makes an optional member, which may be missing or `null`.
    static func optional<Value: FleetValue>(
        _ name: String, _ path: any WritableKeyPath<Object, Value?> & Sendable
    ) -> Self {
        MessageMember(name: name, isRequired: false) { object, writer in
            guard let value = object[keyPath: path] else { return }
            writer.key(name)
            value.write(to: &writer)
        } read: { object, reader in
            object[keyPath: path] = try reader.skipNull() ? nil : Value(from: &reader)
        }
    }
}

extension FleetObject {
    mutating func validate() throws {}

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for member in Self.members { member.write(self, &writer) }
        writer.endObject()
    }

    init(from reader: inout JSONReader) throws {
        self.init()
        let members = Self.members
        var missing = Set(members.indices.filter { members[$0].isRequired })
        try reader.enterMessage()
        while let name = try reader.nextKey()?.string() {
            if let index = members.firstIndex(where: { $0.name == name }) {
                try members[index].read(&self, &reader)
                missing.remove(index)
            } else {
                try reader.skip()
            }
        }

        guard missing.isEmpty else { throw UnknownFleetMessage() }
        try validate()
    }
}

// MARK: - Values

extension String: FleetValue {
    init(from reader: inout JSONReader) throws { self = try needed(reader.string()) }

    func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Bool: FleetValue {
    init(from reader: inout JSONReader) throws { self = try needed(reader.bool()) }

    func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Int: FleetValue {
    init(from reader: inout JSONReader) throws { self = try needed(reader.int()) }

    func write(to writer: inout JSONWriter) { writer.value(self) }
}

/// An offset.
extension Int64: FleetValue {
    init(from reader: inout JSONReader) throws { self = Int64(try Int(from: &reader)) }

    func write(to writer: inout JSONWriter) { writer.value(Int(self)) }
}

/// The number of a message. Numbers count from 0 or 1, so they fit into an `Int`.
extension UInt64: FleetValue {
    init(from reader: inout JSONReader) throws { self = try needed(UInt64(exactly: try Int(from: &reader))) }

    func write(to writer: inout JSONWriter) { writer.value(Int(clamping: self)) }
}

extension Double: FleetValue {
    init(from reader: inout JSONReader) throws { self = try needed(reader.double()) }

    /// Writes small numbers with an exponent, which is the format of the messages.
    func write(to writer: inout JSONWriter) {
        if self > 0, self < 0.0001 { writer.value(json: description.utf8.span) } else { writer.value(self) }
    }
}

extension Array: FleetValue where Element: FleetValue {
    init(from reader: inout JSONReader) throws {
        guard try reader.enterArray() else { throw UnknownFleetMessage() }
        self = []
        while try reader.nextElement() { append(try Element(from: &reader)) }
    }

    func write(to writer: inout JSONWriter) {
        writer.beginArray()
        for element in self { element.write(to: &writer) }
        writer.endArray()
    }
}

/// An object whose members all have the same type. They are written in the order of their names.
extension Dictionary: FleetValue where Key == String, Value: FleetValue {
    init(from reader: inout JSONReader) throws {
        try reader.enterMessage()
        self = [:]
        while let key = try reader.nextKey() {
            let name = try key.string()
            self[name] = try Value(from: &reader)
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        for (name, value) in sorted(by: { $0.key < $1.key }) {
            writer.key(name)
            value.write(to: &writer)
        }
        writer.endObject()
    }
}

/// Returns a value that has the expected type.
func needed<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw UnknownFleetMessage() }
    return value
}

extension JSONReader {
    /// Enters an object.
    /// - Throws: an error if the value is not an object.
    mutating func enterMessage() throws {
        guard try enterObject() else { throw UnknownFleetMessage() }
    }
}
