/// The failure of a page's request, with a line for its user.
package struct ConsoleError: Error, Hashable {
    /// The kind of failure, which decides the HTTP status.
    package enum Kind: Sendable, Hashable {
        /// The page's request is invalid: 400.
        case invalid
        /// The page must log in first: 401.
        case unauthorized
        /// The request comes from another site: 403.
        case forbidden
        /// The object does not exist: 404.
        case notFound
        /// Too many wrong tokens; requests are answered again after this time: 429.
        case tooEarly(Duration)
        /// The state has changed since the page read it: 409.
        case changed
        /// Kafka is unavailable: 503.
        case unavailable
        /// The console has too many Kafka operations in progress: 503, with a time to retry.
        case busy
    }

    package let kind: Kind
    /// One line with a remedy. It contains no secret.
    package let message: String
    /// The faulty member of the request.
    package let member: String?

    package init(_ kind: Kind, _ message: String, member: String? = nil) {
        (self.kind, self.message, self.member) = (kind, message, member)
    }
}
