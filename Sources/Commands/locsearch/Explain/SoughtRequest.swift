import EventContract

/// The requests that an id means: a request id, a trace's id, or a record's position, as outcomes name it in `ce_id`.
struct SoughtRequest: Sendable, Hashable {
    /// The id as a person gave it.
    let text: String
    /// The trace, where the id may be a trace's.
    let traceID: String?
    /// The position in a topic of requests, where the id is one.
    let position: SourcePosition?

    init(_ text: String, in topics: [String]) {
        self.text = text
        let isTrace = text.utf8.count == 32 && text.utf8.allSatisfy(\.isHexadecimal)
        traceID = isTrace ? text.lowercased() : nil
        position = topics.lazy.compactMap { Self.position(in: $0, text) }.first
    }

    /// Reads `topic-partition-offset`, and `topic-partition@offset`, which lists of dead letters show.
    private static func position(in topic: String, _ text: String) -> SourcePosition? {
        guard text.hasPrefix("\(topic)-") else { return nil }
        let numbers = text.dropFirst(topic.count + 1).split(separator: "-", omittingEmptySubsequences: false)
            .flatMap { $0.split(separator: "@", omittingEmptySubsequences: false) }
        guard numbers.count == 2, numbers.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDecimal) }),
            let partition = Int32(numbers[0]), let offset = Int64(numbers[1])
        else { return nil }
        return SourcePosition(topic: topic, partition: partition, offset: offset)
    }

    /// Returns true for a request with this id, of this trace, or at this position.
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
