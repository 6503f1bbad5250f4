/// One header of a record. A record may have several of one name.
///
/// Records of Kafka and events share this type, so that headers pass from one to the other without a copy.
public struct RecordHeader: Sendable, Hashable {
    /// The name of the header, which may be empty.
    public var name: String
    /// The value, which most often is UTF-8 text; `nil` is null, which differs from an empty value.
    public var value: [UInt8]?

    /// A header with any bytes, or none.
    @inlinable
    public init(_ name: String, _ value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    /// A header with text.
    public init(_ name: String, text: String) {
        self.init(name, Array(text.utf8))
    }

    /// The value as text; `nil` when there is none, or when it is not UTF-8.
    public var text: String? { value.flatMap { String(validating: $0, as: UTF8.self) } }
}

extension [RecordHeader] {
    /// The last header of that name, as Kafka's clients take it when a name repeats.
    public func last(named name: String) -> RecordHeader? {
        last { $0.name == name }
    }
}
