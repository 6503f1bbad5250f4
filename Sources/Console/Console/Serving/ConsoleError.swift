internal import Hummingbird
internal import JSON

/// Why the console could not do what a page asked for: a line for the person in front of it.
package struct ConsoleError: Error, Hashable {
    /// A kind of failure, which decides the HTTP status.
    package enum Kind: Sendable, Hashable {
        /// The page asked for something wrong: 400.
        case invalid
        /// The page must log in first: 401.
        case unauthorized
        /// The page comes from elsewhere: 403.
        case forbidden
        /// It is not there, or not any more: 404.
        case notFound
        /// The page has shown too many wrong tokens, and is answered again after this time: 429.
        case tooEarly(Duration)
        /// Something has changed since the page looked: 409.
        case changed
        /// Kafka does not do it at present: 503.
        case unavailable
        /// The console has too much to ask of Kafka: 503, and when to ask again.
        case busy
    }

    package let kind: Kind
    /// One line that says what to do. It holds no secret.
    package let message: String
    /// The member of the request that is at fault.
    package let member: String?

    package init(_ kind: Kind, _ message: String, member: String? = nil) {
        self.kind = kind
        self.message = message
        self.member = member
    }

    /// The failure as an answer: `{"error":{"message":...,"member":...}}`.
    var response: Response {
        let json = JSONWriter.object(capacity: 256) { json in
            json.object("error") { json in
                json.member("message", message)
                json.member("member", member)
            }
        }

        var response = JSONAnswer.response(json, status: status)
        if case .tooEarly(let wait) = kind { response.headers[.retryAfter] = "\(wait.components.seconds + 1)" }
        if kind == .busy { response.headers[.retryAfter] = "2" }
        return response
    }

    private var status: HTTPResponse.Status {
        switch kind {
        case .invalid: .badRequest
        case .unauthorized: .unauthorized
        case .forbidden: .forbidden
        case .notFound: .notFound
        case .tooEarly: .tooManyRequests
        case .changed: .conflict
        case .unavailable, .busy: .serviceUnavailable
        }
    }
}
