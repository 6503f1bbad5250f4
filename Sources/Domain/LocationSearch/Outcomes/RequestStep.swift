/// One step of a request's way to its providers: a wait, a refusal or a call.
public struct RequestStep: Sendable, Hashable {
    /// Names what a step was. Raw values are contract: they stand in the header `request-steps`.
    public enum Kind: String, CaseIterable, Sendable {
        /// The request waited for its rate limit, its concurrency limit or its daily budget, and was then let through.
        case wait
        /// A limit or the breaker did not let the request through.
        case refused
        /// The provider was called.
        case call
        /// The request waited before its next call: a retry's back-off, or the delay that a provider wants between two calls.
        case pause
        /// The request was parked until the provider could be asked again (`whenOpen=hold`).
        case park
        /// The request waited for the call of an identical one.
        case shared
    }

    /// How a step ended.
    public enum End: Sendable, Hashable {
        /// A wait is over.
        case over
        /// The call was answered.
        case answered
        /// The step failed. The status is that of the provider's answer over HTTP, if there was one.
        case failed(SearchError.Code, httpStatus: Int16?)
        /// The call was given up before the request's deadline, so that another one had time.
        case givenUp
        /// The request was superseded or abandoned meanwhile.
        case cancelled
    }

    /// What the step was.
    public var kind: Kind
    /// The provider that the step was about.
    public var provider: ProviderID
    /// How the step ended.
    public var end: End
    /// The nanoseconds from the receipt of the request to the step's beginning.
    public var start: Int64
    /// The nanoseconds that the step took.
    public var duration: Int64

    /// A step.
    public init(_ kind: Kind, _ provider: ProviderID, end: End, start: Int64, duration: Int64) {
        self.kind = kind
        self.provider = provider
        self.end = end
        self.start = start
        self.duration = duration
    }
}

/// The steps of one request, in the order in which they ended. Most requests have one, which takes no memory of its own.
public struct RequestSteps: Sendable, Hashable {
    /// The most steps that are kept.
    public static let most = 12

    /// The time that the record had waited in its topic; `nil` where its timestamp is not known.
    public var topicWait: Duration?
    /// The first step.
    public private(set) var first: RequestStep?
    /// The steps behind the first. Where there are more than are kept, the last of them is the newest.
    public private(set) var others: [RequestStep] = []
    /// True when steps before the last one were left out.
    public private(set) var areCut = false

    /// No steps yet.
    public init(topicWait: Duration? = nil) { self.topicWait = topicWait }

    /// True when nothing is known.
    public var isEmpty: Bool { topicWait == nil && first == nil }

    /// Adds a step. Where there are too many, it takes the place of the one before, so that the end of a request is always
    /// known.
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
