/// One header of a record. A record may have several headers with the same name.
///
/// Kafka's records and events share this type, so that headers are passed between them without a copy.
public struct RecordHeader: Sendable, Hashable {
    /// The name of the header, which may be empty.
    public var name: String
    /// The value, usually UTF-8 text; `nil` is null, which differs from an empty value.
    public var value: [UInt8]?

    /// Makes a header from bytes, or from null.
    @inlinable
    public init(_ name: String, _ value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    public init(_ name: String, text: String) {
        self.init(name, Array(text.utf8))
    }

    /// The value as text; `nil` if there is none, or it is not UTF-8.
    public var text: String? { value.flatMap { String(validating: $0, as: UTF8.self) } }
}

extension [RecordHeader] {
    /// Returns the last header with this name, which is the one that Kafka's clients use for a repeated name.
    public func last(named name: String) -> RecordHeader? {
        last { $0.name == name }
    }
}
