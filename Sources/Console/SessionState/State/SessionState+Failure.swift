public import LocationSearch

extension SessionState {
    /// A failure, and what a person can do about it.
    public struct Failure: Sendable, Hashable {
        /// The remedy. Raw values are contract: add one, never rename one.
        public enum Remedy: String, CaseIterable, Sendable {
            /// Sending the same request again, now.
            case retry
            /// Sending the same request again after ``SessionState/Failure/retryAfter``.
            case wait
            /// Sending another request: this one was wrong.
            case changeRequest = "change-request"
            /// Asking the operator of the worker: its key or its settings are wrong.
            case askOperator = "ask-operator"
            /// Searching anew: the place is gone, or the request took too long to be of use.
            case searchAgain = "search-again"
        }

        /// The id of the request that failed.
        public let requestID: String
        /// The operation that the request asked for; `nil` when it is not known.
        public let operation: SearchOperation?
        /// One of `SearchError.Code`'s raw values, or one that is not known here.
        public let code: String
        /// One line for a person.
        public let message: String
        /// True when the same request may succeed later.
        public let isRetryable: Bool
        /// The time to wait before asking again; `nil` when nobody knows.
        public let retryAfter: Duration?
        /// The name of what is at fault, such as a member of the request.
        public let member: String?
        /// The request that failed, to send it again with another id; `nil` when only its outcome was seen.
        public let request: SearchRequest?

        /// The remedy that a person has.
        public var remedy: Remedy {
            if isRetryable { return retryAfter == nil ? .retry : .wait }

            return switch SearchError.Code(rawValue: code) {
            case .invalidRequest: .changeRequest
            case .notFound, .expired, .superseded: .searchAgain
            default: .askOperator
            }
        }
    }
}
