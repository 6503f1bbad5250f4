/// One step of a request: a wait, a refusal or a call.
public struct RequestStep: Sendable, Hashable {
    /// The kind of a step. Raw values are contract: they appear in the header `request-steps`.
    public enum Kind: String, CaseIterable, Sendable {
        /// The request waited for its rate limit, its concurrency limit or its daily budget, and was then admitted.
        case wait
        /// A limit or the breaker refused the call.
        case refused
        case call
        /// The request waited before its next call: a retry's back-off, or a delay that a provider requires between two calls.
        case pause
        /// The request was parked until the provider could be called again (`whenOpen=hold`).
        case park
        /// The request waited for the call of an identical one.
        case shared
    }

    public enum End: Sendable, Hashable {
        /// A wait has ended.
        case over
        case answered
        /// The step failed. The status is that of the provider's HTTP answer, if there was one.
        case failed(SearchError.Code, httpStatus: Int16?)
        /// The call was abandoned before the request's deadline, to leave time for another one.
        case givenUp
        /// The request was superseded or abandoned meanwhile.
        case cancelled
    }

    public var kind: Kind
    public var provider: ProviderID
    public var end: End
    /// The nanoseconds from the receipt of the request to the step's start.
    public var start: Int64
    /// The duration in nanoseconds.
    public var duration: Int64

    public init(_ kind: Kind, _ provider: ProviderID, end: End, start: Int64, duration: Int64) {
        (self.kind, self.provider, self.end, self.start, self.duration) = (kind, provider, end, start, duration)
    }
}

/// The steps of one request, in the order in which they ended. Most requests have one, which needs no allocation.
public struct RequestSteps: Sendable, Hashable {
    /// The maximum number of steps that are kept.
    public static let most = 12

    /// The time that the record had waited in its topic; `nil` if its timestamp is not known.
    public var topicWait: Duration?
    public private(set) var first: RequestStep?
    /// The steps after the first. If there are too many, the last of them is the newest.
    public private(set) var others: [RequestStep] = []
    /// True if steps before the last one were left out.
    public private(set) var areCut = false

    /// Makes an empty list of steps.
    public init(topicWait: Duration? = nil) { self.topicWait = topicWait }

    /// True if there is neither a topic wait nor a step.
    public var isEmpty: Bool { topicWait == nil && first == nil }

    /// Adds a step. If there are too many, it replaces the previous one, so that the end of a request is always kept.
    @inline(__always)
    public mutating func append(_ step: RequestStep) {
        if first == nil { first = step } else { appendOther(step) }
    }

    @inline(never)
    private mutating func appendOther(_ step: RequestStep) {
        if others.count + 1 < Self.most {
            others.append(step)
        } else {
            others[others.count - 1] = step
            areCut = true
        }
    }
}
