public import Basics

/// An answer, read to its end.
public struct HTTPResponse: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// The body without its compression (gzip), within the size limit.
    public var body: [UInt8]
    /// The `Location` header, which is read and never followed.
    public var location: String?
    /// The `Retry-After` header as it was sent: seconds or an HTTP date.
    public var retryAfter: String?
    /// The wall-clock time at which an answer with `Retry-After` was read; `nil` for one without.
    public var readAt: WallTime?
    /// The `Content-Type` header as it was sent.
    public var contentType: String?
    /// The `Date` header as it was sent, where `HTTPConfiguration.keepsDate` asks for it.
    public var date: String?

    /// Makes an answer; the transport and its fakes do.
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
