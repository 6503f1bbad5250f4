/// One header of a record. Names may repeat.
package struct EventHeader: Sendable, Hashable {
    package var name: String
    /// Most are UTF-8 text; `nil` is a header without a value.
    package var value: [UInt8]?

    package init(_ name: String, _ value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    package init(_ name: String, text: String) {
        self.init(name, Array(text.utf8))
    }

    /// The value as text; `nil` when there is none, or when it is not UTF-8.
    package var text: String? { value.flatMap { String(validating: $0, as: UTF8.self) } }
}

extension [EventHeader] {
    /// The last header of that name, as Kafka's clients take it when a name repeats.
    package func last(named name: String) -> EventHeader? {
        last { $0.name == name }
    }
}

extension UInt8 {
    var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
