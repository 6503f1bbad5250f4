extension OutcomeEvent {
    /// One step of a request: a wait, a refusal or a call. Names that this version does not know are kept as text.
    public struct Step: Sendable, Hashable {
        /// One of `RequestStep.Kind`'s raw values, or an unknown one.
        public var kind: String
        /// The name of the step's provider.
        public var provider: String
        /// The time from the receipt of the request to the step's start, whole milliseconds.
        public var start: Duration
        /// The duration of the step, whole milliseconds.
        public var duration: Duration
        /// The end of the step: `ok`, a code of `SearchError`, `given-up`, `cancelled`, or an unknown one; `nil` for a wait
        /// that has ended.
        public var code: String?
        /// The HTTP status of the provider's answer, if the step failed with one.
        public var httpStatus: Int?
    }

    /// The steps of a request, from the header `request-steps`.
    public struct Steps: Sendable, Hashable {
        /// The time that the record had waited in its topic when a worker took it; `nil` if that is not known.
        public var topicWait: Duration?
        /// The steps, in the order in which they ended.
        public var steps: [Step] = []
        /// True if steps before the last one were left out, because there were too many.
        public var areCut = false
    }
}

extension OutcomeEvent.Steps {
    /// Reads the text of the header. Accepts any bytes: a segment that is not a step is skipped.
    public init(text: [UInt8]) {
        self.init()
        for segment in text.prefix(Self.mostBytes).split(separator: UInt8(ascii: ";")) {
            read(segment.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) })
        }
    }

    /// The maximum number of bytes that are read. Workers write at most 1 KB.
    private static let mostBytes = 4096

    private mutating func read(_ words: [String]) {
        switch words.first {
        case "...": areCut = true
        case "topic": if words.count == 2 { topicWait = Self.milliseconds(words[1]) }
        default: if let step = OutcomeEvent.Step(words) { steps.append(step) }
        }
    }

    fileprivate static func milliseconds(_ text: some StringProtocol) -> Duration? {
        guard text.utf8.allSatisfy(\.isDigit), text.utf8.count <= 9 else { return nil }
        return Int64(text).map { .milliseconds($0) }
    }
}

extension OutcomeEvent.Step {
    /// Reads the words of one segment; `nil` if they are not a step. Additional words come from a newer worker and are ignored.
    fileprivate init?(_ words: [String]) {
        guard words.count >= 3 else { return nil }
        let times = words[2].split(separator: "+", omittingEmptySubsequences: false)
        guard times.count == 2, let start = OutcomeEvent.Steps.milliseconds(times[0]),
            let duration = OutcomeEvent.Steps.milliseconds(times[1])
        else { return nil }

        self.init(kind: words[0], provider: words[1], start: start, duration: duration)
        if words.count > 3 { code = words[3] }
        if words.count > 4, let status = Int(words[4]), (100...599).contains(status) { httpStatus = status }
    }
}
