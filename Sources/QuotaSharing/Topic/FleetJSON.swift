internal import JSON

// What the messages of the fleet topic have in common as JSON.

/// The error for JSON that is no message of this version.
struct UnknownFleetMessage: Error {}

/// Returns the value of a member that no message lacks.
/// - Throws: where it is missing, or of another kind.
func needed<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw UnknownFleetMessage() }
    return value
}

extension JSONWriter {
    /// Writes an array.
    mutating func array<Value>(of values: [Value], _ write: (Value, inout JSONWriter) -> Void) {
        beginArray()
        for value in values { write(value, &self) }
        endArray()
    }

    /// Writes an object whose members are all of one kind, in the order of their names.
    mutating func object<Value>(of members: [String: Value], _ write: (Value, inout JSONWriter) -> Void) {
        beginObject()
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            key(name)
            write(value, &self)
        }
        endObject()
    }
}

extension JSONReader {
    /// Enters an object.
    /// - Throws: where the value is something else.
    mutating func enterMessage() throws {
        guard try enterObject() else { throw UnknownFleetMessage() }
    }

    /// Reads the number of a message. They count from 0 or 1, so none is beyond those of an `Int`.
    mutating func messageNumber() throws -> UInt64 {
        try needed(UInt64(exactly: try needed(int())))
    }

    /// Reads the value of a member that may be missing or `null`.
    /// - Throws: where it is of another kind.
    mutating func unlessNull<Value>(_ read: (inout JSONReader) throws -> Value?) throws -> Value? {
        try skipNull() ? nil : try needed(read(&self))
    }

    /// Reads an array, or `null`.
    mutating func arrayUnlessNull<Value>(_ read: (inout JSONReader) throws -> Value) throws -> [Value]? {
        try unlessNull { reader in try reader.array(read) }
    }

    /// Reads an array.
    mutating func array<Value>(_ read: (inout JSONReader) throws -> Value) throws -> [Value] {
        guard try enterArray() else { throw UnknownFleetMessage() }
        var values: [Value] = []
        while try nextElement() { values.append(try read(&self)) }
        return values
    }

    /// Reads an object whose members are all of one kind, or `null`.
    mutating func objectUnlessNull<Value>(
        _ read: (inout JSONReader) throws -> Value
    ) throws -> [String: Value]? {
        try unlessNull { reader in try reader.object(read) }
    }

    /// Reads an object whose members are all of one kind.
    mutating func object<Value>(_ read: (inout JSONReader) throws -> Value) throws -> [String: Value] {
        try enterMessage()
        var members: [String: Value] = [:]
        while let key = try nextKey() {
            let name = try key.string()
            members[name] = try read(&self)
        }
        return members
    }
}
