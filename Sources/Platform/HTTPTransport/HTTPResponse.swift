public import Basics

public struct HTTPResponse: Sendable, Hashable {
    public var status: Int
    /// The decompressed body (gzip), within the size limit.
    public var body: [UInt8]
    /// The `Location` header. Redirects are never followed.
    public var location: String?
    /// The `Retry-After` header as received: seconds or an HTTP date.
    public var retryAfter: String?
    /// The wall-clock time at which a response with `Retry-After` was read; `nil` for one without.
    public var readAt: WallTime?
    /// The `Content-Type` header as received.
    public var contentType: String?
    /// The `Date` header as received, if `HTTPConfiguration.keepsDate` is set.
    public var date: String?

    /// Makes a response, for the transport and its fakes.
    public init(
        status: Int, body: [UInt8] = [], location: String? = nil, retryAfter: String? = nil,
        readAt: WallTime? = nil, contentType: String? = nil, date: String? = nil
    ) {
        self.status = status
        self.body = body
        self.location = location
        self.retryAfter = retryAfter
        self.readAt = readAt
        self.contentType = contentType
        self.date = date
    }
}
