/// One header of a record. A record may have several of one name.
public struct EventHeader: Sendable, Hashable {
    /// The name of the header, which may be empty.
    public var name: String
    /// The value, which most often is UTF-8 text; `nil` for a header without a value.
    public var value: [UInt8]?

    /// A header with any bytes, or none.
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

extension [EventHeader] {
    /// The last header of that name, as Kafka's clients take it when a name repeats.
    public func last(named name: String) -> EventHeader? {
        last { $0.name == name }
    }
}

extension UInt8 {
    var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
