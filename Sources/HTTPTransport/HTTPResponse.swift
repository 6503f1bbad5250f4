/// An answer, read to its end.
package struct HTTPResponse: Sendable, Hashable {
    package var status: Int
    /// Decoded (gzip, br), within the size limit.
    package var body: [UInt8]
    /// `Location`, read and never followed.
    package var location: String?
    /// `Retry-After` as sent: seconds or an HTTP date.
    package var retryAfter: String?
    package var contentType: String?

    package init(
        status: Int, body: [UInt8] = [], location: String? = nil, retryAfter: String? = nil, contentType: String? = nil
    ) {
        self.status = status
        self.body = body
        self.location = location
        self.retryAfter = retryAfter
        self.contentType = contentType
    }
}
