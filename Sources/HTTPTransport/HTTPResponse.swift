/// An answer, read to its end.
public struct HTTPResponse: Sendable, Hashable {
    public var status: Int
    /// Decoded (gzip, br), within the size limit.
    public var body: [UInt8]
    /// `Location`, read and never followed.
    public var location: String?
    /// `Retry-After` as sent: seconds or an HTTP date.
    public var retryAfter: String?
    public var contentType: String?

    public init(
        status: Int, body: [UInt8] = [], location: String? = nil, retryAfter: String? = nil, contentType: String? = nil
    ) {
        self.status = status
        self.body = body
        self.location = location
        self.retryAfter = retryAfter
        self.contentType = contentType
    }
}
