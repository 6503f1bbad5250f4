public import LocationSearch

extension SessionState {
    /// A failure, and its remedy.
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
            /// Searching again: the place does not exist, or the request took too long.
            case searchAgain = "search-again"
        }

        /// The id of the request that failed.
        public let requestID: String
        /// The operation of the request; `nil` if unknown.
        public let operation: SearchOperation?
        /// One of `SearchError.Code`'s raw values, or an unknown one.
        public let code: String
        /// One line for a person.
        public let message: String
        /// True if the same request may succeed later.
        public let isRetryable: Bool
        /// The time to wait before a retry; `nil` if unknown.
        public let retryAfter: Duration?
        /// The name of the faulty part, such as a member of the request.
        public let member: String?
        /// The failed request, to be sent again with another id; `nil` if only its outcome was seen.
        public let request: SearchRequest?

        /// The remedy for a person.
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
