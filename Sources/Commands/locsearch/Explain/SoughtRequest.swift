import EventContract

/// The requests to search for: a request id, a trace id, or a record's position as outcomes contain it in `ce_id`.
struct SoughtRequest: Sendable, Hashable {
    /// The id as the user entered it.
    let text: String
    /// The trace id; `nil` if the text cannot be one.
    let traceID: String?
    /// The position in a request topic; `nil` if the text is not a position.
    let position: SourcePosition?

    init(_ text: String, in topics: [String]) {
        self.text = text
        let isTrace = text.utf8.count == 32 && text.utf8.allSatisfy(\.isHexadecimal)
        traceID = isTrace ? text.lowercased() : nil
        position = topics.lazy.compactMap { Self.position(in: $0, text) }.first
    }

    /// Parses `topic-partition-offset`, and `topic-partition@offset`, the form used in lists of dead letters.
    private static func position(in topic: String, _ text: String) -> SourcePosition? {
        guard text.hasPrefix("\(topic)-") else { return nil }
        let numbers = text.dropFirst(topic.count + 1).split(separator: "-", omittingEmptySubsequences: false)
            .flatMap { $0.split(separator: "@", omittingEmptySubsequences: false) }
        guard numbers.count == 2, numbers.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDecimal) }),
            let partition = Int32(numbers[0]), let offset = Int64(numbers[1])
        else { return nil }
        return SourcePosition(topic: topic, partition: partition, offset: offset)
    }

    /// Returns true for a request with this id, in this trace, or at this position.
    func matches(_ source: SourcePosition, requestID: String?, traceID trace: String?) -> Bool {
        if let position { return source == position }
        return requestID == text || (trace != nil && trace == traceID)
    }
}

extension UInt8 {
    fileprivate var isDecimal: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isHexadecimal: Bool {
        isDecimal || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
            || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(self)
    }
}
