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
    /// The last header of that name, as Kafka's clients take it when a name repeats; its case does not matter.
    package func last(named name: StaticString) -> EventHeader? {
        last { $0.hasName(name) }
    }
}

extension EventHeader {
    /// - Parameter wanted: in lower case.
    func hasName(_ wanted: StaticString) -> Bool {
        let own = name.utf8
        guard own.count == wanted.utf8CodeUnitCount else { return false }
        // Safe: the buffer is used within the call only.
        return wanted.withUTF8Buffer { wanted in
            unsafe zip(own, wanted).allSatisfy { $0 == $1 || ($0 ^ 0x20 == $1 && $1.isLowercaseLetter) }
        }
    }
}

extension UInt8 {
    var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
