/// Describes the texts that can follow `fault:` in a request's keyword, type or place id.
package enum FaultTable {
    /// The faults with their meanings. `MS`, `S`, `MB` and `N` stand for numbers.
    package static let rows: [(spelling: String, meaning: String)] = [
        ("delay=MS", "delays the response; can be combined with another fault"),
        ("NAME*N", "only for the first N identical requests, e.g. fault:503*1: a retry succeeds"),
        ("300 ... 599", "that HTTP status with a page of HTML: 301, 404, 408, 413, 429, 500, 502, 503, 504, ..."),
        ("503=S", "that status with Retry-After (any status)"),
        ("html", "status 200, a page of HTML"), ("empty", "status 200, no body"),
        ("garbage", "status 200, random bytes"), ("xml", "status 200, XML"),
        ("cut", "status 200, incomplete JSON in a complete response"),
        ("deep", "status 200, 100,000 nested arrays"),
        ("shape", "status 200, JSON of a different shape"),
        ("none", "nothing found"), ("truncated", "the connection ends before Content-Length is reached"),
        ("cut-chunked", "chunked, the connection ends before the last chunk"),
        ("bad-gzip", "Content-Encoding: gzip with damaged data"),
        ("huge, huge=MB", "a body of 100 MB (or that many), streamed"), ("hang", "never responds"),
        ("hang-body", "half of the body, then nothing"),
        ("drip, drip=MS", "the body in pieces over 10 s (or that long)"),
        ("reset", "RST before the first byte"), ("reset-body", "RST after half of the body"),
        ("close", "closes the connection without a response"),
        ("1000, 2000, 3000", "Hot Pepper's errors; Google returns its most similar error"),
        (
            "OVER_QUERY_LIMIT, OVER_DAILY_LIMIT, REQUEST_DENIED, INVALID_REQUEST, NOT_FOUND, UNKNOWN_ERROR",
            "statuses of Google's legacy API; the others return their most similar error"
        ),
        (
            "INVALID_ARGUMENT, UNAUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, RESOURCE_EXHAUSTED, INTERNAL, UNAVAILABLE",
            "statuses of Google's new API, likewise"
        ),
        ("rate-limited=S", "with RetryInfo (new) or Retry-After (the others); any error"),
        (
            "unauthorized, legacy-off, invalid, not-found, server-error, rate-limited, rate-limited-day, unknown_status",
            "the same for all three"
        ),
    ]

    /// The table as lines of text.
    package static var text: String {
        rows.map { "fault:\($0.spelling)\n    \($0.meaning)\n" }.joined()
    }

    /// Returns `true` if the text is a fault, without `fault:` and without `*N`.
    package static func accepts(_ spelling: String) -> Bool { Fault(spelling) != nil }
}
