import Basics
import HTTPTransport
import LocationSearch

/// Makes errors from failures that are common to all three providers.
extension SearchError {
    /// Makes the failure of a call without an answer.
    init(_ error: HTTPError, from provider: ProviderID) {
        let name = provider.rawValue
        switch error.kind {
        case .dns, .connect, .tls, .reset:
            self.init(.unreachable, "\(name) cannot be reached (\(error.description)); try again later")
        case .staleConnection:
            self.init(.unreachable, "\(name) closed the connection (\(error.description)); try again")
            isStale = true
        case .timeout: self = .timedOut
        case .truncated, .protocolViolation:
            self.init(.badResponse, "the answer of \(name) is incomplete or not HTTP; try again")
        case .tooLarge: self.init(.badResponse, "the answer of \(name) is larger than the worker allows")
        case .cancelled: self.init(.timeout, "the request was cancelled", allowsAttempt: false)
        case .invalidRequest:
            self.init(.internal, "a request to \(name) could not be built: \(error.description)")
        }
    }

    /// Makes the failure for an answer's HTTP status, if the body has no details.
    /// - Parameter status: the status, which is not 200.
    /// - Parameter response: the answer, which may have a `Retry-After`.
    init(httpStatus status: Int, of response: HTTPResponse, from provider: ProviderID) {
        let name = provider.rawValue
        let wait = Self.delay(of: response)
        switch status {
        case 401:
            self.init(
                .unauthorized, "\(name) rejected the API key; check the key and its restrictions", httpStatus: status)
        case 403:
            // All three report a refused key in the body (Hot Pepper with 200), so this comes from a front end.
            self.init(
                .unauthorized,
                "\(name) rejected this request without a reason (HTTP status 403); if others fail too, check the API key",
                httpStatus: status)
            isUnexplained = true
        case 408: self.init(.timeout, "\(name) timed out; try again", httpStatus: status)
        case 413, 414, 431:
            self.init(.invalidRequest, "the request is too large for \(name)", httpStatus: status)
        case 429:
            self.init(
                .rateLimited, "\(name) limits the call rate; wait before trying again", retryAfter: wait,
                httpStatus: status)
        case 500..<600:
            self.init(
                .upstreamUnavailable, "\(name) is not available; try again later", retryAfter: wait, httpStatus: status)
        case 300..<400 where provider == .hotpepper:
            // Its maintenance notices are pages at another address.
            self.init(
                .upstreamUnavailable, "\(name) is closed for maintenance; try again later", retryAfter: wait,
                httpStatus: status)
        default:
            self.init(.upstreamRejected, "\(name) answered with HTTP status \(status)", httpStatus: status)
        }
    }

    /// Returns a provider's own name of a failure if it looks like a name. Other texts are kept out of events.
    static func name(_ text: String?) -> String? {
        guard let text, (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 == UInt8(ascii: "_") || (0x30...0x39).contains($0) || isLetter($0) })
        else { return nil }
        return text
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// Makes the failure for an unusable answer.
    /// - Parameter what: the text after "the answer of <provider>".
    static func badResponse(_ what: String, from provider: ProviderID) -> SearchError {
        SearchError(.badResponse, "the answer of \(provider.rawValue) \(what); try again")
    }

    /// Makes the failure of a photo call that was answered with 403 and a picture about a used-up quota.
    static func photoQuota(of provider: ProviderID) -> SearchError {
        SearchError(
            .rateLimited, "the photo quota of \(provider.rawValue) is used up; wait before trying again",
            httpStatus: 403)
    }

    /// Returns the wait in `Retry-After`: seconds, or the time until an HTTP date (RFC 9110, 5.6.7), at most an hour. `nil`
    /// if there is no such header, its text is invalid, or the date has passed.
    static func delay(of response: HTTPResponse) -> Duration? {
        guard let text = response.retryAfter?.trimmingBlanks else { return nil }
        if let seconds = Double(text) { return seconds > 0 ? .seconds(saturating: min(seconds, 3600)) : nil }

        guard let now = response.readAt, let date = HTTPDate.seconds(of: text) else { return nil }
        let left = Double(date) - Double(now.milliseconds) / 1000
        return left > 0 ? .seconds(saturating: min(left, 3600)) : nil
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        let scalars = unicodeScalars.drop { $0 == " " || $0 == "\t" }
        return String(String.UnicodeScalarView(scalars.reversed().drop { $0 == " " || $0 == "\t" }.reversed()))
    }
}
